import { fields, type Schema } from '../schema.ts'

export interface PeekQuery {
  readonly peek?: string
}

/** Strict: a misspelt `?peek` would charge. */
export const PEEK_QUERY: Schema = fields({
  peek: { type: 'string', enum: ['', 'true', 'false'], description: 'empty, true or false' },
})

export function peeks({ peek = 'false' }: PeekQuery): boolean {
  return peek !== 'false'
}
