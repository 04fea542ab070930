import type { Limit, When } from '@sluice/limiter/rules'
import { networksOf } from '../limits/network-text.ts'
import { hostPattern, isPlain, pathPattern } from '../limits/path-pattern.ts'
import { type ProxyPart, proxyPart } from '../limits/proxy-part.ts'

/** What a limit counts by, as a variable that is not set for requests that it is not for. */
export interface HaproxyKey {
  readonly variable: string
  /** Of the table. */
  readonly type: string
  readonly lines: readonly string[]
}

/** The key of a limit, or the reason why HAProxy cannot have it. */
export function haproxyKey({ key, when = {}, exempt, onMissingKey }: Limit, id: string): HaproxyKey | string {
  const parts: ProxyPart[] = []
  for (const text of key) {
    const part = proxyPart(text)
    if (typeof part === 'string') return part
    parts.push(part)
  }
  const conditions = conditionsOf(when)
  if (typeof conditions === 'string') return conditions
  if (exempt.length > 0) {
    const networks = networksOf(exempt)
    if (networks === undefined) return 'some values of its key are exempt, which are no addresses'
    conditions.push(`!{ src ${[...networks.v4, ...networks.v6].join(' ')} }`)
  }
  const [only] = parts
  const variable = `txn.${id}`
  const lines: string[] = []
  const set = (name: string, expression: string, holds: readonly string[]): void =>
    void lines.push(
      `http-request set-var(${name}) ${expression}${holds.length > 0 ? ` if ${holds.join(' ')}` : ''}`,
    )
  if (parts.length === 1 && only!.kind === 'ip') {
    set(variable, expressionOf(only!), conditions)
    return { variable: `var(${variable})`, type: 'ipv6', lines }
  }
  // Each part is hashed: so that no two keys are one text, and none is longer than the table’s.
  for (const [index, part] of parts.entries())
    set(`${variable}_${index + 1}`, `${expressionOf(part)},sha2(256),hex`, [])
  const present = parts.flatMap(({ kind }, index) =>
    kind === 'header' || kind === 'cookie' ? [`{ var(${variable}_${index + 1}) -m found }`] : [],
  )
  const all = parts.map((_, index) => `${variable}_${index + 1}`)
  const joined =
    all.length === 0
      ? 'str(all)'
      : `var(${all[0]})${all
          .slice(1)
          .map((name) => `,concat(.,${name})`)
          .join('')}${all.length > 1 ? ',sha2(256),hex' : ''}`
  if (onMissingKey === 'share' && present.length > 0) {
    set(variable, 'str(none)', conditions)
    set(variable, joined, [`{ var(${variable}) -m found }`, ...present])
  } else set(variable, joined, [...conditions, ...present])
  return { variable: `var(${variable})`, type: 'string len 65', lines }
}

function expressionOf(part: ProxyPart): string {
  switch (part.kind) {
    case 'ip':
      return `src,ipmask(${part.v4},${part.v6})`
    case 'header':
      return `req.fhdr(${part.name})`
    case 'cookie':
      return `req.cook(${part.name})`
    case 'method':
      return 'method'
    case 'host':
      return 'req.hdr(host),host_only,lower'
  }
}

function conditionsOf({ method, path, host, header = {}, query, ip }: When): string[] | string {
  const found: string[] = []
  if (query !== undefined) return 'it compares a parameter, which has many spellings'
  if (method !== undefined) found.push(`{ method -m str ${method.map(quoted).join(' ')} }`)
  const paths = path?.map((glob) => pathPattern(glob))
  if (paths?.includes(undefined)) return 'its path has an escape, two **, or three * in one segment'
  if (paths !== undefined) {
    // HAProxy leaves dot segments as they are: a path that has one counts for every rule with a path.
    const patterns = [...paths.map((each) => `^${each}$`), '(^|/)[.]{1,2}(/|$)']
    found.push(`{ path,url_dec -m reg -i ${patterns.map(quoted).join(' ')} }`)
  }
  const hosts = host?.map((name) => hostPattern(name))
  if (hosts?.includes(undefined)) return 'its host is an address, or has three *'
  if (hosts !== undefined)
    found.push(
      `{ req.hdr(host),host_only -m reg -i ${hosts.map((each) => quoted(`^${each}[.]?$`)).join(' ')} }`,
    )
  for (const [name, values] of Object.entries(header)) {
    if (!/^[a-z0-9_-]+$/.test(name)) return `HAProxy cannot be asked for the header ${JSON.stringify(name)}`
    if (!values.every(isPlain)) return 'it compares a header with text that is not printable ASCII'
    found.push(`{ req.fhdr(${name}) -m str -- ${values.map(quoted).join(' ')} }`)
  }
  if (ip !== undefined) {
    const { v4, v6 } = networksOf(ip)!
    found.push(`{ src ${[...v4, ...v6].join(' ')} }`)
  }
  return found
}

/** In strong quotes nothing has a meaning but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
