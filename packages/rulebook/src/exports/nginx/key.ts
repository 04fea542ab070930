import type { Limit, When } from '@sluice/limiter/rules'
import { networksOf } from '../limits/network-text.ts'
import { hostPattern, isPlain, pathPattern, plainly } from '../limits/path-pattern.ts'
import { type ProxyPart, proxyPart } from '../limits/proxy-part.ts'
import { geoLines, mapLines, networkVariable, pattern } from './maps.ts'

/** What a limit counts by, as a variable that is empty for requests that it is not for: nginx does not count these. */
export interface NginxKey {
  readonly variable: string
  /** The definition of the variable, and of those that it is made of. */
  readonly lines: readonly string[]
  /** Networks by which it counts: {@link networkMap} defines their variables, which limits share. */
  readonly networks: readonly { readonly v4: number; readonly v6: number }[]
}

/** Defines one variable; the argument is its name. */
type VariableDefinition = (name: string) => readonly string[]

/** The key of a limit, or the reason why nginx cannot have it. */
export function nginxKey(limit: Limit, id: string): NginxKey | string {
  const parts = partsOf(limit)
  if (typeof parts === 'string') return parts
  const conditions = conditionsOf(limit.when ?? {})
  if (typeof conditions === 'string') return conditions
  if (limit.exempt.length > 0) {
    const exempt = networksOf(limit.exempt)
    if (exempt === undefined) return 'some values of its key are exempt, which are no addresses'
    conditions.push((name) => geoLines([...exempt.v4, ...exempt.v6], name, true))
  }

  const lines: string[] = []
  const define = (prefix: string, definitions: readonly VariableDefinition[]): string[] =>
    definitions.map((definition, index) => {
      const name = `$sluice_${prefix}${index + 1}_${id}`
      lines.push(...definition(name))
      return name
    })
  const holds = define('c', conditions)
  const present = define(
    'p',
    parts
      .filter(({ kind }) => kind === 'header' || kind === 'cookie')
      .map((part) => (name) => mapLines(variableOf(part), name, ['default 1', '"" 0'])),
  )
  let value = parts.length === 0 ? 'all' : parts.map(variableOf).join('\\n') // no part holds the end of a line
  if (limit.onMissingKey === 'share' && present.length > 0) {
    const own = `$sluice_k_${id}`
    lines.push(
      ...mapLines(present.join(''), own, ['default none', `${ones(present.length)} "has\\n${value}"`]),
    )
    value = own
  } else holds.push(...present)
  const variable = `$sluice_key_${id}`
  lines.push(
    ...mapLines(`1${holds.join('')}`, variable, ['default ""', `${ones(holds.length + 1)} "${value}"`]),
  )
  return { variable, lines, networks: parts.filter((part) => part.kind === 'ip') }
}

function ones(count: number): string {
  return '1'.repeat(count)
}

function partsOf({ key }: Limit): readonly ProxyPart[] | string {
  const parts: ProxyPart[] = []
  for (const text of key) {
    const part = proxyPart(text)
    if (typeof part === 'string') return part
    if (part.kind === 'ip' && (part.v4 % 8 > 0 || part.v6 % 8 > 0))
      return `it counts by ${text}, and nginx can take whole bytes of an address only`
    if (part.kind === 'cookie' && part.name.includes('-'))
      return `nginx has no variable for the cookie ${part.name}, whose name has a -`
    if (part.kind === 'header' && part.name.includes('_'))
      return `nginx has one variable for ${part.name} and for the same name with -`
    parts.push(part)
  }
  return parts
}

function variableOf(part: ProxyPart): string {
  switch (part.kind) {
    case 'ip':
      return networkVariable(part.v4, part.v6)
    case 'header':
      return headerVariable(part.name)
    case 'cookie':
      return `$cookie_${part.name}`
    case 'method':
      return '$request_method'
    case 'host':
      return '$host'
  }
}

function headerVariable(name: string): string {
  return `$http_${name.toLowerCase().replaceAll('-', '_')}`
}

function conditionsOf({ method, path, host, header = {}, query, ip }: When): VariableDefinition[] | string {
  const found: VariableDefinition[] = []
  const anyOf = (source: string, patterns: readonly string[]): void =>
    void found.push((name) => mapLines(source, name, ['default 0', ...patterns.map((each) => `${each} 1`)]))
  if (query !== undefined) return 'it compares a parameter, which has many spellings in nginx'
  if (method !== undefined)
    anyOf(
      '$request_method',
      method.map((each) => pattern(literally(each))),
    )
  const paths = path?.map((glob) => pathPattern(glob))
  if (paths?.includes(undefined)) return 'its path has an escape, two **, or three * in one segment'
  if (paths !== undefined)
    anyOf(
      '$uri',
      paths.map((each) => pattern(each!, '~*')),
    )
  const hosts = host?.map((name) => hostPattern(name))
  if (hosts?.includes(undefined)) return 'its host is an address, or has three *'
  if (hosts !== undefined)
    anyOf(
      '$host',
      hosts.map((each) => pattern(each!, '~*')),
    )
  for (const [name, values] of Object.entries(header)) {
    if (!/^[a-z0-9-]+$/.test(name)) return `nginx has no variable for the header ${JSON.stringify(name)}`
    if (!values.every(isPlain)) return 'it compares a header with text that is not printable ASCII'
    anyOf(
      headerVariable(name),
      values.map((each) => pattern(literally(each))),
    )
  }
  if (ip !== undefined) {
    const { v4, v6 } = networksOf(ip)!
    found.push((name) => geoLines([...v4, ...v6], name))
  }
  return found
}

function literally(text: string): string {
  return [...text].map(plainly).join('')
}
