/** One file of a FileDescriptorSet, and the full names of what it declares. */
export interface FileSymbols {
  readonly name: string
  readonly imports: readonly string[]
  /** Messages, fields, enums and their values, services and methods, at every depth. */
  readonly symbols: readonly string[]
  /** A FileDescriptorProto as protoc wrote it. */
  readonly bytes: Buffer
}

/** The files of a FileDescriptorSet. Numbers of fields are those of google/protobuf/descriptor.proto. */
export function filesOf(set: Buffer): readonly FileSymbols[] {
  return parts(set, 1).map((bytes) => {
    const scope = text(bytes, 2)
    return {
      name: text(bytes, 1),
      imports: parts(bytes, 3).map(String),
      symbols: [
        ...parts(bytes, 4).flatMap((message) => symbolsOfMessage(message, scope)),
        ...parts(bytes, 5).flatMap((each) => symbolsOfEnum(each, scope)),
        ...parts(bytes, 6).flatMap((service) => named(service, scope, 2)),
      ],
      bytes,
    }
  })
}

function symbolsOfMessage(message: Buffer, scope: string): string[] {
  const own = within(scope, text(message, 1))
  return [
    ...named(message, scope, 2),
    ...parts(message, 3).flatMap((nested) => symbolsOfMessage(nested, own)),
    ...parts(message, 4).flatMap((nested) => symbolsOfEnum(nested, own)),
  ]
}

/** Values of an enum are named beside it. */
function symbolsOfEnum(each: Buffer, scope: string): string[] {
  return [within(scope, text(each, 1)), ...parts(each, 2).map((value) => within(scope, text(value, 1)))]
}

/** Something with a name, and what it has under the field `below`. */
function named(bytes: Buffer, scope: string, below: number): string[] {
  const own = within(scope, text(bytes, 1))
  return [own, ...parts(bytes, below).map((part) => within(own, text(part, 1)))]
}

function within(scope: string, name: string): string {
  return scope === '' ? name : `${scope}.${name}`
}

function text(bytes: Buffer, field: number): string {
  return parts(bytes, field)[0]?.toString() ?? ''
}

/** The values of one field that have a length: texts, bytes and messages. */
function parts(bytes: Buffer, field: number): Buffer[] {
  const found: Buffer[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const kind = tag & 7
    if (kind === 0) varint()
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else {
      const end = varint() + at
      if (tag >>> 3 === field) found.push(bytes.subarray(at, end))
      at = end
    }
  }
  return found
}
