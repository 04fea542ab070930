import { isCost } from '../decide/cost.ts'
import type { Step } from '../decide/step.ts'
import { joinParts, keyPart } from '../identify/key-text.ts'
import type { Hash } from '../identify/keyed-hash.ts'
import { type CallFields, checkCall } from '../options.ts'
import type { CompiledDomain, Matched, Rules } from './compiled-rules.ts'
import {
  type CompiledDescriptorLimit,
  type DescriptorNode,
  type DescriptorTree,
  descriptorNamespace,
  type MatchedLimit,
  printablePath,
} from './descriptor-tree.ts'
import type { LimitOptions } from './domain.ts'
import { makeRule, stepOf } from './make-rule.ts'
import { BAD_COST, unmatched } from './match.ts'
import { type Entry, labelOf, metricLabels } from './stats-key.ts'

export type { Entry } from './stats-key.ts'

/** One descriptor of a request, as envoyproxy/ratelimit's API has it. */
export interface DescriptorQuery {
  readonly entries: readonly Entry[]
  /** Whole, ≥ 0; 0 only looks. Wins over the request's. */
  readonly cost?: number
  /** A limit in place of any rule's. */
  readonly limit?: {
    /** Whole, ≥ 0. */
    readonly requestsPerUnit: number
    /** `second`, `minute`, `hour`, `day`, `week`, `month` (30 days) or `year` (365), in any case. */
    readonly unit: string
  }
}

export interface DescriptorStatus {
  /** Where among the steps this descriptor's is; −1 when it is not counted. */
  readonly step: number
  /** Absent when no limit matched, or another replaces it. */
  readonly limit?: MatchedLimit
}

export interface MatchedDescriptors extends Matched {
  /** One for each descriptor of the request, in order. */
  readonly statuses: readonly DescriptorStatus[]
}

/** What one descriptor met, and which counter it charges. */
interface Hit extends CompiledDescriptorLimit {
  readonly key: string
}

/**
 * Which limits the descriptors of a request meet, and under which keys. A descriptor that meets none, or an unknown
 * domain, is not limited.
 * @param cost for descriptors without one of their own; default 1
 * @throws TypeError for a name that a descriptor does not have
 * @example
 * const { steps } = matchDescriptors(rules, 'shop', [{ entries: [{ key: 'user', value: 'ada' }] }])
 */
export function matchDescriptors(
  rules: Rules,
  domainName: string,
  descriptors: readonly DescriptorQuery[],
  cost = 1,
): MatchedDescriptors {
  const domain = rules.domains.get(domainName)
  const hits: (Hit | undefined)[] = []
  descriptors.forEach(checkQuery)
  for (const query of descriptors) {
    if (!isCost(query.cost ?? cost)) return { ...unmatched(BAD_COST), statuses: [] }
    const hit = domain && hitOf(domain, query, rules)
    if (typeof hit === 'string') return { ...unmatched(hit), statuses: [] }
    hits.push(hit)
  }
  const replaced = new Set(hits.flatMap((hit) => hit?.replaces ?? []))
  const steps: Step[] = []
  const statuses = hits.map((hit, i) => statusOf(hit, replaced, steps, descriptors[i]!.cost, cost))
  return { steps, missing: [], statuses }
}

/** What a descriptor of a request may have: `''` for what is checked where it is used. */
const QUERY: CallFields = /* @__PURE__ */ new Map([
  ['entries', 'object'],
  ['cost', ''],
  ['limit', 'object'],
])
const ENTRY: CallFields = /* @__PURE__ */ new Map([
  ['key', 'string'],
  ['value', 'string'],
])
const QUERY_LIMIT: CallFields = /* @__PURE__ */ new Map([
  ['requestsPerUnit', 'number'],
  ['unit', 'string'],
])

const IN_QUERY = ['entries']
const IN_ENTRY = ['key', 'value']
const IN_QUERY_LIMIT = ['requestsPerUnit', 'unit']

function checkQuery(query: DescriptorQuery, i: number): void {
  checkCall(query, QUERY, ['descriptors', i], IN_QUERY)
  query.entries.forEach((entry, j) => {
    checkCall(entry, ENTRY, ['descriptors', i, 'entries', j], IN_ENTRY)
  })
  if (query.limit !== undefined)
    checkCall(query.limit, QUERY_LIMIT, ['descriptors', i, 'limit'], IN_QUERY_LIMIT)
}

/** Adds the step of a descriptor, unless nothing is to be counted, or another limit replaces its own. */
function statusOf(
  hit: Hit | undefined,
  replaced: ReadonlySet<string>,
  steps: Step[],
  own: number | undefined,
  cost: number,
): DescriptorStatus {
  if (hit === undefined || (hit.met.name !== undefined && replaced.has(hit.met.name))) return UNCOUNTED
  const { rule, met: limit, key } = hit
  if (rule === undefined) return { step: -1, limit }
  steps.push(stepOf(rule, key, own ?? cost, own === undefined ? undefined : 'rule'))
  return { step: steps.length - 1, limit }
}

const UNCOUNTED: DescriptorStatus = { step: -1 }

function hitOf(domain: CompiledDomain, query: DescriptorQuery, { setting }: Rules): Hit | string | undefined {
  const { entries, limit } = query
  const { hash, calendarMonths } = setting
  if (entries.length === 0) return undefined
  const path = pathThrough(domain.descriptors, entries)
  const rule = path.length === entries.length ? path.at(-1)!.limit : undefined
  if (limit !== undefined) {
    const namespace = rule?.rule?.namespace
    // One counter for the same entries, wherever the limit comes from.
    const [own, key] =
      namespace === undefined
        ? [descriptorNamespace(domain.name, []), wholeKey(entries, hash)]
        : [namespace, descriptorKey(path, entries, hash)]
    return override(domain.name, entries, limit, own, key, calendarMonths)
  }
  if (rule === undefined) return undefined
  const isOwn = path.some(({ valueToMetric }) => valueToMetric) || path.at(-1)!.detailed
  const met = isOwn ? withLabels(rule.met, domain.name, metricLabels(path, entries)) : rule.met
  return { met, replaces: rule.replaces, rule: rule.rule, key: descriptorKey(path, entries, hash) }
}

function withLabels(met: MatchedLimit, domain: string, labels: readonly string[]): MatchedLimit {
  return { ...met, statsKey: [domain, ...labels].join('.'), labels }
}

/** The nodes that the entries lead through, as far as they lead. */
export function pathThrough(tree: DescriptorTree, entries: readonly Entry[]): DescriptorNode[] {
  const path: DescriptorNode[] = []
  let level: DescriptorTree | DescriptorNode['children'] = tree
  for (const { key, value } of entries) {
    const node: DescriptorNode | undefined =
      level.exact.get(key)?.get(value) ?? level.firstPattern(key, value) ?? level.keys.get(key)
    if (node === undefined) break
    path.push(node)
    level = node.children
  }
  return path
}

/** What the rule leaves open. Where a pattern is shared, all that match it share a counter. */
function descriptorKey(path: readonly DescriptorNode[], entries: readonly Entry[], hash: Hash): string {
  const parts: string[] = []
  path.forEach(({ key, shared, fits, value }, i) => {
    const entry = entries[i]!
    if (shared || (fits === undefined && value !== undefined)) return
    if (key.includes('*')) parts.push(keyPart(entry.key, hash))
    parts.push(keyPart(entry.value, hash))
  })
  return joinParts(parts)
}

function wholeKey(entries: readonly Entry[], hash: Hash): string {
  return joinParts(entries.flatMap(({ key, value }) => [keyPart(key, hash), keyPart(value, hash)]))
}

/** Characters of a policy's name that a request makes up by its keys. */
const MAX_NAME = 128

/** Names are for reading: counters do not go by them. */
function shortName(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 3)}...` : name
}

const LIMIT_UNITS = new Map([
  ['second', '1s'],
  ['minute', '1m'],
  ['hour', '1h'],
  ['day', '1d'],
  ['week', '1w'],
  ['month', '30d'],
  ['year', '365d'],
])

const PLAIN_OPTIONS: LimitOptions = {
  algorithm: 'fixed-window',
  onLimit: 'deny',
  mode: 'enforce',
  onStoreError: 'open',
}

/** A limit that the request brings itself: a plain fixed window. Text says why it cannot be one. */
function override(
  domain: string,
  entries: readonly Entry[],
  { requestsPerUnit, unit }: NonNullable<DescriptorQuery['limit']>,
  namespace: string,
  key: string,
  calendarMonths: boolean,
): Hit | string {
  const isMonth = calendarMonths && unit.toLowerCase() === 'month'
  const period = isMonth ? ({ calendar: 'month' } as const) : LIMIT_UNITS.get(unit.toLowerCase())
  if (period === undefined) return `a limit's unit must be one of ${[...LIMIT_UNITS.keys()].join(', ')}`
  if (!isCost(requestsPerUnit)) return 'a limit must be a whole number from 0 to 2^53−1'
  const name = shortName(printablePath([domain, ...entries.map((entry) => entry.key)]))
  const source = { options: PLAIN_OPTIONS, name, namespace }
  const labels = entries.map(labelOf)
  const statsKey = [domain, ...labels].join('.')
  return {
    met: {
      requestsPerUnit,
      unit: unit.toLowerCase(),
      unlimited: false,
      statsKey,
      labels,
    },
    replaces: [],
    rule: makeRule(source, { limit: requestsPerUnit, period }),
    key,
  }
}
