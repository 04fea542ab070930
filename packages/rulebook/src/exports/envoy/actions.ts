import type { Limit, When } from '@sluice/limiter/rules'
import { hostPattern, isPlain, orEscaped, pathPattern } from '../limits/path-pattern.ts'
import { type ProxyPart, proxyPart } from '../limits/proxy-part.ts'

/** What makes a limit's descriptor of a request, and the descriptor: an entry without a value has a bucket for each. */
export interface EnvoyActions {
  readonly actions: readonly object[]
  readonly entries: readonly { readonly key: string; readonly value?: string }[]
}

/** The actions of a limit, or the reason why Envoy cannot have them. */
export function envoyActions({ name, key, when = {}, exempt, onMissingKey }: Limit): EnvoyActions | string {
  const headers = matchersOf(when)
  if (typeof headers === 'string') return headers
  if (exempt.length > 0) return 'some callers are exempt, and the limits of Envoy know no exceptions'
  const rule = { descriptor_key: 'sluice', descriptor_value: name }
  const actions: object[] = [
    headers.length > 0 ? { header_value_match: { ...rule, headers } } : { generic_key: rule },
  ]
  const entries: { key: string; value?: string }[] = [{ key: 'sluice', value: name }]
  for (const [index, text] of key.entries()) {
    const part = proxyPart(text)
    if (typeof part === 'string') return part
    const action = actionOf(part, `part${index + 1}`)
    if (typeof action === 'string') return action
    if (part.kind === 'header' && onMissingKey === 'share')
      return 'requests without a part of its key share a count, and Envoy does not limit them'
    actions.push(action)
    entries.push({ key: part.kind === 'ip' ? 'masked_remote_address' : `part${index + 1}` })
  }
  return { actions, entries }
}

function actionOf(part: ProxyPart, key: string): object | string {
  switch (part.kind) {
    case 'ip':
      return { masked_remote_address: { v4_prefix_mask_len: part.v4, v6_prefix_mask_len: part.v6 } }
    case 'header':
      return { request_headers: { header_name: part.name.toLowerCase(), descriptor_key: key } }
    case 'method':
      return { request_headers: { header_name: ':method', descriptor_key: key } }
    case 'host':
      return 'it counts by host, and Envoy would count host:port and capitals apart'
    case 'cookie':
      return 'it counts by a cookie, and the limits of Envoy cannot read one'
  }
}

/** Envoy may leave dot segments as they are: a path that has one counts for every rule with a path. */
const DOT_SEGMENT = '[^?#]*/(?:\\.|%2e){1,2}(?:[/?#].*)?'

/** Headers as Envoy matches them, all of which must hold; its path has the query behind it, and escapes. */
function matchersOf({ method, path, host, header = {}, query, ip }: When): object[] | string {
  const found: object[] = []
  if (query !== undefined) return 'it compares a parameter, which has many spellings'
  if (ip !== undefined) return 'it is for some addresses only, and the limits of Envoy cannot compare them'
  if (method !== undefined) found.push(oneOf(':method', method))
  const paths = path?.map((glob) => pathPattern(glob, orEscaped))
  if (paths?.includes(undefined)) return 'its path has an escape, two **, or three * in one segment'
  if (paths !== undefined) {
    found.push(like(':path', [...paths.map((each) => `${each}(?:[?#].*)?`), DOT_SEGMENT]))
  }
  const hosts = host?.map((name) => hostPattern(name))
  if (hosts?.includes(undefined)) return 'its host is an address, or has three *'
  if (hosts !== undefined)
    found.push(
      like(
        ':authority',
        hosts.map((each) => `${each}\\.?(?::[0-9]+)?`),
      ),
    )
  for (const [name, values] of Object.entries(header)) {
    if (!/^[a-z0-9_-]+$/.test(name)) return `Envoy cannot be asked for the header ${JSON.stringify(name)}`
    if (!values.every(isPlain)) return 'it compares a header with text that is not printable ASCII'
    found.push(oneOf(name, values))
  }
  return found
}

function oneOf(name: string, values: readonly string[]): object {
  if (values.length === 1) return { name, string_match: { exact: values[0] } }
  const any = values.map((value) => value.replace(/[^\w]/g, '\\$&')).join('|')
  return { name, string_match: { safe_regex: { regex: `(?:${any})` } } }
}

/** Envoy compares the whole text with an expression. */
function like(name: string, expressions: readonly string[]): object {
  return { name, string_match: { safe_regex: { regex: `(?i)(?:${expressions.join('|')})` } } }
}
