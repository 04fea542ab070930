import type { Request } from '@sluice/limiter/rules'
import { FIELDS, type LineFields, PLACE } from './line-fields.ts'
import type { LineReader } from './line-reader.ts'
import { readTarget } from './target.ts'

/** The request of a line, as far as its fields at `places` tell. */
export function requestOfLine(line: LineFields, reader: LineReader, places: readonly number[]): Request {
  const texts = new Map<number, string>()
  for (const place of places) {
    if (line.from[place]! < 0) continue
    const text = reader.text(line.bytes, line.from[place]!, line.to[place]!)
    if (text !== '') texts.set(place, text)
  }
  const key =
    reader.identities === undefined ? undefined : texts.get(FIELDS.length + reader.attributes.indexOf('key'))
  const ip = texts.get(PLACE.ip) ?? key
  const method = texts.get(PLACE.method)
  const host = texts.get(PLACE.host)
  const headers = headersOf(texts)
  return {
    ...(ip && { ip }),
    ...(method && { method }),
    ...(host && { host }),
    ...targetOf(texts),
    ...(headers && { headers }),
    attributes: attributesOf(texts, reader, key),
  }
}

/** A query of its own leaves a `?` in the path what it is. */
function targetOf(texts: ReadonlyMap<number, string>): Pick<Request, 'path' | 'query' | 'host'> {
  const target = texts.get(PLACE.target)
  const query = texts.get(PLACE.query)
  if (query === undefined) return target === undefined ? {} : readTarget(target)
  return { ...(target && { path: target }), query: Object.fromEntries(new URLSearchParams(query)) }
}

function headersOf(texts: ReadonlyMap<number, string>): Request['headers'] {
  const referer = texts.get(PLACE.referer)
  const agent = texts.get(PLACE['user-agent'])
  if (referer === undefined && agent === undefined) return undefined
  return { ...(referer && { referer }), ...(agent && { 'user-agent': agent }) }
}

function attributesOf(
  texts: ReadonlyMap<number, string>,
  reader: LineReader,
  key: string | undefined,
): NonNullable<Request['attributes']> {
  const attributes: [string, string | number][] = []
  if (key !== undefined) {
    for (const name of reader.identities!) if (name !== 'ip') attributes.push([name, key])
  }
  const user = texts.get(PLACE.user)
  const status = texts.get(PLACE.status)
  const bytes = texts.get(PLACE.bytes)
  if (user !== undefined) attributes.push(['user', user])
  if (status !== undefined) attributes.push(['status', Number(status)])
  if (bytes !== undefined) attributes.push(['bytes', bytes === '-' ? 0 : Number(bytes)])
  for (const [i, name] of reader.attributes.entries()) {
    const text = texts.get(FIELDS.length + i)
    if (text !== undefined) attributes.push([name, text])
  }
  return Object.fromEntries(attributes)
}
