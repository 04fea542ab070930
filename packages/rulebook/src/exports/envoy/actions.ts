import type { Limit, When } from '@sluice/limiter/rules'
import { hostPattern, isPlain, orEscaped, pathPattern, plainly } from '../limits/path-pattern.ts'
import { type ProxyPart, proxyPart } from '../limits/proxy-part.ts'

/** What makes a limit's descriptor of a request, and the descriptor: an entry without a value has a bucket for each. */
export interface EnvoyActions {
  readonly actions: readonly object[]
  readonly entries: readonly { readonly key: string; readonly value?: string }[]
}

/** The actions of a limit, or the reason why Envoy cannot have them. */
export function envoyActions({ name, key, when = {}, exempt, onMissingKey }: Limit): EnvoyActions | string {
  const conditions = conditionsOf(when)
  if (typeof conditions === 'string') return conditions
  if (exempt.length > 0) return 'some callers are exempt, and the limits of Envoy know no exceptions'
  const actions: object[] = [{ generic_key: { descriptor_key: 'sluice', descriptor_value: name } }]
  const entries: { key: string; value?: string }[] = [{ key: 'sluice', value: name }]
  for (const [index, condition] of conditions.entries()) {
    actions.push(holds(condition, `when${index + 1}`))
    entries.push({ key: `when${index + 1}`, value: 'holds' })
  }
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

/** One condition: any of these holds for a header. */
interface HeaderCondition {
  readonly name: string
  readonly anyOf: readonly object[]
}

/** Envoy refuses an expression of more than 100 instructions; some are for what stands around the text of a rule. */
const MOST_INSTRUCTIONS = 80

/**
 * Envoy leaves escapes and dot segments as they are, unless it is set to change them: a path with one that no client
 * needs (`%6c` is `l`) counts for every rule with a path.
 */
const ODD_PATH = '[^?#]*(?:/\\.\\.?(?:[/?#].*)?|%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae]).*)'

/** Conditions as Envoy reads them; its path has the query behind it. */
function conditionsOf({ method, path, host, header = {}, query, ip }: When): HeaderCondition[] | string {
  const found: HeaderCondition[] = []
  if (query !== undefined) return 'it compares a parameter, which has many spellings'
  if (ip !== undefined) return 'it is for some addresses only, and the limits of Envoy cannot compare them'
  if (method !== undefined) found.push({ name: ':method', anyOf: method.map(exactly) })
  if ([...(path ?? []), ...(host ?? [])].some((each) => instructionsOf(each) > MOST_INSTRUCTIONS))
    return 'it has a path or host that is too long for the expressions of Envoy'
  const paths = path?.map((glob) => pathPattern(glob, spelling))
  if (paths?.includes(undefined)) return 'its path has an escape, two **, or three * in one segment'
  if (paths !== undefined)
    found.push({ name: ':path', anyOf: [...paths.map((each) => `${each}(?:[?#].*)?`), ODD_PATH].map(like) })
  const hosts = host?.map((name) => hostPattern(name))
  if (hosts?.includes(undefined)) return 'its host is an address, or has three *'
  if (hosts !== undefined)
    found.push({ name: ':authority', anyOf: hosts.map((each) => like(`${each}\\.?(?::[0-9]+)?`)) })
  for (const [name, values] of Object.entries(header)) {
    if (!/^[a-z0-9_-]+$/.test(name)) return `Envoy cannot be asked for the header ${JSON.stringify(name)}`
    if (!values.every(isPlain)) return 'it compares a header with text that is not printable ASCII'
    found.push({ name, anyOf: values.map(exactly) })
  }
  return found
}

/** At most so many instructions has the expression of a path or host. */
function instructionsOf(text: string): number {
  const pieces = text.match(/\*\*|\*|:[\w-]+|[\w.~-]|./g) ?? []
  return pieces.reduce((sum, piece) => sum + (/^[\w.~-]$/.test(piece) ? 1 : piece === '/' ? 2 : 8), 0)
}

/** Signs may be escaped; letters and digits need no escape. */
function spelling(char: string): string {
  return /[\w.~-]/.test(char) ? plainly(char) : orEscaped(char)
}

function exactly(text: string): object {
  return { exact: text }
}

/** Envoy compares the whole text with an expression. */
function like(expression: string): object {
  return { safe_regex: { regex: `(?i)${expression}` } }
}

/** An entry of the descriptor, unless each of the matchers fails: so Envoy says "any of". */
function holds({ name, anyOf }: HeaderCondition, key: string): object {
  const headers = anyOf.map((string_match) => ({
    name,
    string_match,
    invert_match: true,
    treat_missing_header_as_empty: true,
  }))
  return {
    header_value_match: { descriptor_key: key, descriptor_value: 'holds', expect_match: false, headers },
  }
}
