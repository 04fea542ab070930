import { type NetworkLimit, parsePart, type Quota } from '@sluice/limiter/rules'
import { z } from 'zod'
import { asFieldError, FieldError, quoted } from '../mistake.ts'
import { type FileSource, type Path, positionOf, type Reporter } from '../syntax/source.ts'
import { type FieldsOf, mapOf, oneOrMany, quota, readWith, wholeField } from './fields.ts'
import { ruleName } from './limits.ts'
import { parseRange } from './when.ts'

/** A network rule as files write it, its texts read. */
export interface NetworkLimitText {
  readonly name: string
  readonly protocol?: 'tcp' | 'udp'
  readonly port: readonly string[]
  readonly key: readonly string[]
  readonly count?: NetworkLimit['count']
  readonly limit: number | Quota
  readonly burst?: number
  readonly on_limit?: NetworkLimit['onLimit']
  readonly on_full?: NetworkLimit['onFull']
  readonly exempt?: readonly string[]
}

/** Ports that one rule of a firewall may name; a range counts as two. */
const MOST_PORTS = 15
/** Counts that firewalls keep in 32 bits. */
const MOST = 4_294_967_295

const port: z.ZodType<string> = z.union(
  [
    z.int().min(1).max(65_535).transform(String),
    readWith('must be a port, such as 443, or a range', parsePort),
  ],
  { error: 'must be a port, such as 443, or a range' },
)

const networkFields: FieldsOf<NetworkLimitText> = {
  name: ruleName.describe('Names the rule in what is exported; once in a domain.'),
  protocol: z.enum(['tcp', 'udp']).describe('Default tcp.').exactOptional(),
  port: oneOrMany(port).describe('Ports of this host, such as 443 or 8000-8010.'),
  key: z
    .array(readWith('must be ip, ip/N or ip/N/N', parseNetworkPart))
    .max(1)
    .describe('[ip] counts each client separately, IPv6 by its /64; [ip/24/56] by network; [] all together.'),
  count: z
    .enum(['connections', 'packets', 'open'])
    .describe('What is counted: new connections (the default), packets, or connections open at one time.')
    .exactOptional(),
  limit: z
    .union([wholeField(1, MOST), quota], { error: 'must be COUNT/PERIOD, such as 20/second' })
    .describe('COUNT/PERIOD, such as 20/second; with count: open a number, such as 20.'),
  burst: wholeField(1, MOST).describe('How many at once; default: the limit.').exactOptional(),
  on_limit: z
    .enum(['drop', 'reset'])
    .describe('What the client sees: nothing (drop, the default), or a TCP reset.')
    .exactOptional(),
  on_full: z
    .enum(['open', 'closed'])
    .describe('While the table is full: new clients pass (open, the default), or are refused (closed).')
    .exactOptional(),
  exempt: z
    .array(readWith('must be an address or a range, such as 10.0.0.0/8', parseRange))
    .describe('Addresses and CIDRs that are not limited.')
    .exactOptional(),
}

export const networkLimitSchema: z.ZodType<NetworkLimitText> = mapOf(networkFields)

/** The model of a network rule that its schema accepted. Reports whatever else is wrong with it; `path` is its own. */
export function networkLimitOf(
  written: NetworkLimitText,
  source: FileSource,
  path: Path,
  report: Reporter,
): NetworkLimit {
  const { name, protocol = 'tcp', port, key, count = 'connections', limit, burst } = written
  const { on_limit = 'drop', on_full = 'open', exempt = [] } = written
  const ports = port.reduce((sum, range) => sum + (range.includes('-') ? 2 : 1), 0)
  if (ports > MOST_PORTS) {
    report([...path, 'port'], `has more than ${MOST_PORTS} ports, ranges counted twice: write two rules`)
  }
  if (protocol === 'udp' && on_limit === 'reset') {
    report([...path, 'on_limit'], 'reset needs tcp: udp has no connections to reset')
  }
  if (protocol === 'udp' && count === 'open') {
    report([...path, 'count'], 'open needs tcp: udp has no connections that close')
  }
  if (key.length === 0 && written.on_full !== undefined) {
    report([...path, 'on_full'], 'has no effect without a key: there is no table', { part: 'key' })
  }
  return {
    name,
    protocol,
    port,
    key,
    count,
    ...amountOf(count, limit, burst, path, report),
    onLimit: on_limit,
    onFull: on_full,
    exempt,
    source: positionOf(source, path),
  }
}

function amountOf(
  count: NetworkLimit['count'],
  limit: number | Quota,
  burst: number | undefined,
  path: Path,
  report: Reporter,
): Pick<NetworkLimit, 'limit' | 'period' | 'burst'> {
  const isWhole = typeof limit === 'number'
  if (count === 'open') {
    if (!isWhole) report([...path, 'limit'], 'count: open needs a number without a period, such as 20')
    if (burst !== undefined) report([...path, 'burst'], 'has no effect with count: open', { part: 'key' })
    return { limit: isWhole ? limit : limit.limit }
  }
  if (isWhole || typeof limit.period !== 'number') {
    const why = isWhole ? 'needs a period' : 'cannot be a calendar period'
    report([...path, 'limit'], `${why}: write COUNT/PERIOD, such as 20/second`)
    return { limit: isWhole ? limit : limit.limit, period: 1_000, burst: burst ?? 1 }
  }
  if (!Number.isInteger(limit.period)) report([...path, 'limit'], 'needs a period of whole milliseconds')
  if (limit.limit === 0 || limit.limit > MOST) {
    const why =
      limit.limit === 0 ? '0 would refuse everything: close the port instead' : 'is more than 2^32−1'
    report([...path, 'limit'], why)
  }
  return { limit: limit.limit, period: limit.period, burst: burst ?? limit.limit }
}

/** A port, or a range of them, as firewalls write it. @throws Mistake */
function parsePort(text: string): string {
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const [from, to] = [Number(first), Number(last)]
  if (first === '' || from < 1 || to > 65_535 || from > to) {
    throw new FieldError(`${quoted(text)} is not a port from 1 to 65535, or a range such as 8000-8010`)
  }
  return from === to ? String(from) : `${from}-${to}`
}

/** @throws Mistake */
function parseNetworkPart(text: string): string {
  if (!/^ip(?:\/|$)/.test(text)) {
    throw new FieldError(`${quoted(text)} cannot be seen by a firewall: the key is ip, ip/N, ip/N/N, or []`)
  }
  asFieldError(() => parsePart(text))
  return text
}
