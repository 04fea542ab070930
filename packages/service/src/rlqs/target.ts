import type { Rule } from '@sluice/limiter/decide'
import {
  type CompiledLimit,
  type DescriptorTree,
  type Level,
  matchDescriptors,
  matchLimit,
  type Request,
  type Rules,
} from '@sluice/limiter/rules'
import type { BucketId } from './bucket-id.ts'
import { quotaOf, type RlqsQuota } from './quota.ts'

/** What a bucket is held to. */
export type Target = {
  readonly domain: string
  readonly policy: string
  /** Buckets of one counter share what is assigned of it. */
  readonly counter: string
  /** A quota to share; or the same for all who ask. */
  readonly quota: RlqsQuota | 'ALLOW_ALL' | 'DENY_ALL'
  /** The bucket lacks a part of the limit's key, and so the limit does not apply. */
  readonly missing?: true
}

/** Gives what a bucket is held to; `undefined` where no limit is assigned to it. */
export type FindTarget = (domain: string, bucket: BucketId) => Target | undefined

interface Assigned {
  readonly limits: ReadonlyMap<string, CompiledLimit>
  /** The keys on the way to each limit of the descriptors, without those that are there already. */
  readonly orders: readonly (readonly string[])[]
}

/** The entry of a bucket that names a limit. */
const LIMIT = 'limit'

/** @param nodes services that assign the same rules, each a part of them */
export function targetsOf(rules: Rules, nodes: number): FindTarget {
  const assigned = new Map<string, Assigned>()
  for (const { name, limits, descriptors } of rules.domains.values()) {
    const own = limits.filter(({ rule }) => rule.assign !== undefined)
    const orders = ordersOf(descriptors)
    if (own.length + orders.length === 0) continue
    assigned.set(name, { limits: new Map(own.map((limit) => [limit.name, limit])), orders })
  }
  return (domain, bucket) => {
    const found = assigned.get(domain)
    if (found === undefined) return undefined
    const limit = Object.hasOwn(bucket, LIMIT) ? found.limits.get(bucket[LIMIT]!) : undefined
    return limit === undefined
      ? ofDescriptors(rules, domain, found.orders, bucket, nodes)
      : ofLimit(rules, domain, limit, bucket, nodes)
  }
}

function ofLimit(
  rules: Rules,
  domain: string,
  limit: CompiledLimit,
  bucket: BucketId,
  nodes: number,
): Target | undefined {
  const met = matchLimit(rules, limit, requestOf(bucket))
  if ('problem' in met) return undefined
  const name = { domain, policy: limit.name }
  if ('skipped' in met) {
    const missing = met.skipped === 'missing' && { missing: true as const }
    return { ...name, counter: `${limit.rule.namespace} *`, quota: 'ALLOW_ALL', ...missing }
  }
  const { rule, key } = met.step
  // A limit has several rules where plans have their own: those do not share.
  return { ...name, ...sharedBy(rule, `${limit.rules.indexOf(rule)} ${key}`, nodes) }
}

function ofDescriptors(
  rules: Rules,
  domain: string,
  orders: Assigned['orders'],
  bucket: BucketId,
  nodes: number,
): Target | undefined {
  const count = Object.keys(bucket).length
  for (const keys of orders) {
    if (keys.length !== count || !keys.every((key) => Object.hasOwn(bucket, key))) continue
    const entries = keys.map((key) => ({ key, value: bucket[key]! }))
    const [step] = matchDescriptors(rules, domain, [{ entries }]).steps
    if (step?.rule.assign === undefined) continue
    return { domain, policy: step.rule.name, ...sharedBy(step.rule, step.key, nodes) }
  }
  return undefined
}

function sharedBy(rule: Rule, key: string, nodes: number): Pick<Target, 'counter' | 'quota'> {
  const quota = rule.missingKey === true ? undefined : quotaOf(rule.plan, nodes)
  return { counter: `${rule.namespace} ${key}`, quota: quota ?? 'DENY_ALL' }
}

/** A bucket's entries as the request that the limit's key is read from. */
function requestOf(bucket: BucketId): Request {
  const request: Record<string, string> = {}
  const headers: Record<string, string> = {}
  const query: Record<string, string> = {}
  const attributes: Record<string, string> = {}
  for (const [entry, value] of Object.entries(bucket)) {
    const [, kind = '', name = ''] = /^(header|query|attribute):(.+)$/s.exec(entry) ?? []
    if (kind === 'header') headers[name.toLowerCase()] = value
    else if (kind === 'query') query[name] = value
    else if (kind === 'attribute') attributes[name] = value
    else if (PLAIN.has(entry)) request[entry] = value
    else attributes[entry] = value
  }
  return { ...request, headers, query, attributes }
}

/** Fields of a request that an entry may fill. */
const PLAIN: ReadonlySet<string> = new Set(['ip', 'method', 'path', 'host'])

function ordersOf(tree: DescriptorTree): (readonly string[])[] {
  const orders = new Map<string, readonly string[]>()
  const walk = ({ exact, patterns, keys }: Level, above: readonly string[]): void => {
    const nodes = [
      ...[...exact.values()].flatMap((values) => [...values.values()]),
      ...patterns,
      ...keys.values(),
    ]
    for (const { key, limit, children } of nodes) {
      const order = [...above, key]
      if (limit?.rule?.assign !== undefined) orders.set(JSON.stringify(order), order)
      walk(children, order)
    }
  }
  walk(tree, [])
  return [...orders.values()]
}
