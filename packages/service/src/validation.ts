import type { Schema } from './schema.ts'

/** What Ajv, set to `verbose`, says of one mistake. */
export interface Finding {
  readonly keyword: string
  readonly instancePath: string
  readonly params: object
  readonly parentSchema?: object
}

/** The first mistake in plain words: where, and what was expected there. */
export function detailOf([finding]: readonly Finding[], whole: string): string {
  const { keyword, instancePath, params, parentSchema } = finding!
  const path = pathOf(instancePath)
  const { additionalProperty, missingProperty } = params as Record<string, string | undefined>
  if (keyword === 'additionalProperties')
    return `unknown field ${JSON.stringify(cut(additionalProperty!))} in ${path || whole}`
  if (keyword === 'required') return `${path === '' ? '' : `${path}.`}${missingProperty} is missing`
  return `${path || whole} must be ${(parentSchema as Schema).description}`
}

/** `/descriptors/0/cost` is `descriptors[0].cost`. */
function pathOf(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts.reduce((path, part) => {
    const name = cut(part.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (/^\d+$/.test(name)) return `${path}[${name}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
}

function cut(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name
}
