import { z } from 'zod'
import { fileSchema } from './file-schema.ts'

/**
 * The JSON Schema (draft 7) of a rulebook file, for editors. It knows every field, but not all that loading checks.
 * @example
 * await writeFile('rulebook.schema.json', JSON.stringify(rulebookSchema()))
 */
export function rulebookSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-07' })
  return { ...schema, title: 'Sluice rulebook' }
}
