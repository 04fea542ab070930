import type { StructMessage, ValueMessage } from './messages.ts'

/** A JSON object as `google.protobuf.Struct`. */
export function structOf(object: Readonly<Record<string, unknown>>): StructMessage {
  return {
    fields: Object.fromEntries(Object.entries(object).map(([name, value]) => [name, valueMessage(value)])),
  }
}

function valueMessage(value: unknown): ValueMessage {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'number') return { numberValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (Array.isArray(value)) return { listValue: { values: value.map(valueMessage) } }
  if (typeof value === 'object' && value !== null) return { structValue: structOf({ ...value }) }
  return { nullValue: 0 }
}
