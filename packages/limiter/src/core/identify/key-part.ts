import { ConfigError } from '../errors.ts'
import type { Facts } from './facts.ts'
import { cookieValue, hostName } from './header.ts'
import { ipKey } from './ip.ts'
import { normalizeName } from './normalize-name.ts'
import { normalPath } from './path.ts'

/** One part of a rule's key, such as the address or a header. */
export interface Part {
  readonly kind: string
  /** Never kept or shown as it is: only its hash. */
  readonly secret: boolean
  /** The request's own value, in its one spelling; `undefined` or empty where the request has none. */
  read(facts: Facts, params: Params): string | undefined
  /** The same spelling for a value that a rule names. */
  spell(value: string): string
}

/** Names of parts, as {@link parsePart} reads them. */
export type KeyPartName = PlainName | `${PlainName}|fold`
type PlainName =
  | 'ip'
  | `ip/${number}`
  | `ip/${number}/${number}`
  | 'user'
  | 'tenant'
  | 'api-key'
  | 'path'
  | 'route'
  | 'method'
  | 'host'
  | `${'header' | 'cookie' | 'query' | 'param' | 'attribute'}:${string}`

/** What the rule's path left open: `:name` and its segment. */
export type Params = ReadonlyMap<string, string>

const PART = /^([a-z][a-z0-9-]*)(?:\/(\d+)(?:\/(\d+))?)?(?::(.+?))?(\|fold)?$/s
const NAME_TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
/** Headers that hold credentials. */
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-auth-token']
/** Parts that have one spelling already. */
const SPELT = ['ip', 'path', 'method', 'host']
const PART_FORMS =
  'ip, ip/N, ip/N/N, user, tenant, api-key, header:NAME, cookie:NAME, query:NAME, param:NAME, path, route, method, host, attribute:NAME'

/**
 * Reads a part as rules write it. `ip/24` sets the IPv4 prefix, 1 to 32, `ip/56` (above 32, to 128) the IPv6 one,
 * `ip/24/56` both; `|fold` behind a part that people type makes its spellings one.
 * @param foldPaths as in {@link normalPath}
 * @throws ConfigError for text that is no part of a key
 * @example
 * const { kind, secret } = parsePart('cookie:session')
 * secret // true: only its hash is kept
 */
export function parsePart(text: string, foldPaths = true): Part {
  const [, kind = '', v4, v6, name, fold] = PART.exec(text) ?? []
  const part =
    kind === 'ip' ? ipPart(v4, v6, name) : v4 === undefined ? plainPart(kind, name, foldPaths) : undefined
  if (part !== undefined && fold === undefined) return part
  if (part !== undefined && !part.secret && !SPELT.includes(kind)) return foldedPart(part, text)
  throw new ConfigError(`${JSON.stringify(text.slice(0, 80))} is no part of a key; there are ${PART_FORMS}`)
}

function plainPart(kind: string, name: string | undefined, foldPaths: boolean): Part | undefined {
  if (name !== undefined) return namedPart(kind, name)
  switch (kind) {
    case 'user':
    case 'tenant':
    case 'route':
      return textPart(kind, (facts) => facts.attribute(kind))
    case 'api-key':
      return { ...textPart(kind, (facts) => facts.attribute(kind)), secret: true }
    case 'path':
      return { ...textPart(kind, (facts) => facts.path), spell: (value) => normalPath(value, foldPaths) }
    case 'method':
      return { ...textPart(kind, (facts) => facts.method), spell: (value) => value.toUpperCase() }
    case 'host':
      return { ...textPart(kind, (facts) => facts.host), spell: hostName }
    default:
      return undefined
  }
}

function namedPart(kind: string, name: string): Part | undefined {
  switch (kind) {
    case 'header': {
      if (!NAME_TOKEN.test(name)) return undefined
      const lower = name.toLowerCase()
      const part = textPart(kind, (facts) => facts.header(lower)?.trim())
      return SECRET_HEADERS.includes(lower) ? { ...part, secret: true } : part
    }
    case 'cookie':
      if (!NAME_TOKEN.test(name)) return undefined
      return { ...textPart(kind, (facts) => cookieValue(facts.header('cookie'), name)), secret: true }
    case 'query':
      return textPart(kind, (facts) => facts.query(name))
    case 'param':
      return textPart(kind, (facts, params) => params.get(name) ?? facts.attribute(`param:${name}`))
    case 'attribute':
      return textPart(kind, (facts) => facts.attribute(name))
    default:
      return undefined
  }
}

function textPart(kind: string, read: Part['read']): Part {
  return { kind, secret: false, read, spell: (value) => value }
}

/**
 * Characters of a value that is folded: nobody types more, and some characters become eighteen. A longer one is a mistake,
 * for cut or left as it is it would be another caller's, or one caller's of many.
 */
const MAX_FOLDED = 4_096

function foldedPart(part: Part, text: string): Part {
  return {
    ...part,
    read(facts, params) {
      const value = part.read(facts, params)
      if (value === undefined || value.length <= MAX_FOLDED) return value && normalizeName(value)
      facts.problem ??= `${text} must be of at most ${MAX_FOLDED} characters, not ${value.length}`
      return undefined
    },
    spell: normalizeName,
  }
}

/** One number up to 32 is IPv4's prefix, above it IPv6's; of two the first is IPv4's. */
function ipPart(first = '32', second?: string, name?: string): Part | undefined {
  const alone = second === undefined && Number(first) > 32
  const v4 = alone ? 32 : Number(first)
  const v6 = Number(second ?? (alone ? first : 64))
  if (name !== undefined || v4 < 1 || v4 > 32 || v6 < 1 || v6 > 128) return undefined
  return textPart('ip', (facts) => {
    const { ip = '' } = facts.request
    return ip === '' ? undefined : (ipKey(ip, v4, v6) ?? unreadable(facts))
  })
}

/** Notes that the address cannot be read. */
function unreadable(facts: Facts): undefined {
  void facts.address
}
