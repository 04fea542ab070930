import type { StructMessage, ValueMessage } from './messages.ts'

/** A JSON object as `google.protobuf.Struct`. */
export function structOf(object: Readonly<Record<string, unknown>>): StructMessage {
  return { fields: Object.entries(object).map(([key, value]) => ({ key, value: valueMessage(value) })) }
}

function valueMessage(value: unknown): ValueMessage {
  if (typeof value === 'string') return { string_value: value }
  if (typeof value === 'number') return { number_value: value }
  if (typeof value === 'boolean') return { bool_value: value }
  if (Array.isArray(value)) return { list_value: { values: value.map(valueMessage) } }
  if (typeof value === 'object' && value !== null) return { struct_value: structOf({ ...value }) }
  return { null_value: 0 }
}

/** The JSON object that a Struct is. */
export function jsonOfStruct({ fields = [] }: Partial<StructMessage>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map(({ key, value }) => [key, jsonOfValue(value)]))
}

function jsonOfValue(value: ValueMessage | undefined): unknown {
  if (value === undefined || 'null_value' in value) return null
  if ('struct_value' in value) return jsonOfStruct(value.struct_value)
  if ('list_value' in value) return (value.list_value.values ?? []).map(jsonOfValue)
  return Object.values(value)[0]
}
