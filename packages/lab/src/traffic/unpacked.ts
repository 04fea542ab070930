import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Decompress } from 'fzstd'
import { LabError } from '../lab-error.ts'

/** Longest mark that a packed file begins with. */
const MARK = 4

/** The bytes themselves, or what they hold where they begin as gzip (RFC 1952 §2.3.1) or zstd (RFC 8878 §3.1.1) do. */
export async function* unpacked(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = bytes[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < MARK) {
    const next = await chunks.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const whole = (async function* () {
    yield head
    yield* { [Symbol.asyncIterator]: () => chunks }
  })()
  if (head[0] === 0x1f && head[1] === 0x8b) {
    const gunzip = createGunzip({ chunkSize: 1 << 18 })
    pipeline(whole, gunzip, () => undefined) // what goes wrong shows below
    yield* gunzip as AsyncIterable<Buffer>
  } else if (head.length >= 4 && head.readUInt32LE(0) === 0xfd2fb528) yield* unpackedZstd(whole)
  else yield* whole
}

async function* unpackedZstd(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let ready: Buffer[] = []
  const decompress = new Decompress((chunk) => {
    if (chunk.length > 0) ready.push(Buffer.from(chunk)) // its bytes are used again
  })
  try {
    for await (const chunk of bytes) {
      decompress.push(chunk)
      yield* ready
      ready = []
    }
    decompress.push(new Uint8Array(0), true)
  } catch (error) {
    throw new LabError('its zstd data are damaged or end too early', { cause: error })
  }
  yield* ready
}
