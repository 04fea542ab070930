import type { Bounds } from './bounds.ts'

/** JSON Schema whose every node says in `description` what stands there: `must be …`. */
export interface Schema {
  readonly description?: string
  readonly [keyword: string]: unknown
}

export const WHOLE: Schema = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number from 0 to 2^53−1',
}

/** An object with these fields and no others. */
export function fields(properties: Readonly<Record<string, Schema>>, ...required: string[]): Schema {
  return { type: 'object', properties, required, additionalProperties: false, description: 'an object' }
}

export function list(items: Schema, most: number, least = 0): Schema {
  return {
    type: 'array',
    items,
    minItems: least,
    maxItems: most,
    description: `a list of ${least} to ${most}`,
  }
}

export function text({ maxTextLength: most }: Bounds): Schema {
  return { type: 'string', maxLength: most, description: `text of at most ${most} characters` }
}
