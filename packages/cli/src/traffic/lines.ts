import { pipeline } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'

/** Longest line that is looked at, in UTF-16 units: no server writes a longer one. */
export const MAX_LINE = 65_536

/** A line without its end; `undefined` when it is longer than {@link MAX_LINE}. */
export async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let overlong = false
  for await (const chunk of bytes) {
    const text = rest + decoder.write(chunk)
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      yield overlong ? undefined : line(text.slice(from, end))
      overlong = false
      from = end + 1
    }
    rest = text.slice(from)
    if (rest.length > MAX_LINE) {
      overlong = true
      rest = ''
    }
  }
  rest += decoder.end()
  if (overlong) yield undefined
  else if (rest !== '') yield line(rest)
}

function line(text: string): string | undefined {
  const end = text.endsWith('\r') ? text.length - 1 : text.length
  return end > MAX_LINE ? undefined : text.slice(0, end)
}

/** The bytes themselves, or what they hold when they begin as gzip does (RFC 1952 §2.3.1). */
export async function* unzipped(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = bytes[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 2) {
    const next = await chunks.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const whole = (async function* () {
    yield head
    yield* { [Symbol.asyncIterator]: () => chunks }
  })()
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* whole
  const gunzip = createGunzip()
  pipeline(whole, gunzip, () => undefined) // what goes wrong shows below
  yield* gunzip as AsyncIterable<Buffer>
}
