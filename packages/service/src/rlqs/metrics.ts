import { Counter, Gauge, type Registry } from 'prom-client'
import type { Assigner } from './assigner.ts'

interface Row {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Metrics of what is assigned. Labels are names of the rulebook. */
export function reportRlqs(registry: Registry, assigner: Assigner): void {
  gauge(registry, 'sluice_rlqs_streams', 'Streams of proxies that limits are assigned to', [], () => [
    { labels: {}, value: assigner.streams },
  ])
  gauge(
    registry,
    'sluice_rlqs_buckets',
    'Buckets that are assigned, also those of closed streams whose assignments have not ended',
    [],
    () => [{ labels: {}, value: assigner.buckets }],
  )
  gauge(
    registry,
    'sluice_rlqs_assigned_share',
    'Share of the rate that is assigned to open streams, over all keys of the policy that proxies ask for',
    ['domain', 'policy'],
    () => sharesOf(assigner),
  )
  counter(
    registry,
    'sluice_rlqs_requests_total',
    'Requests that proxies decided by their assignments, as they report them',
    ['domain', 'policy', 'outcome'],
    () =>
      assigner.uses.all.flatMap(({ domain, policy, allowed, denied }) => [
        { labels: { domain, policy, outcome: 'allowed' }, value: allowed },
        { labels: { domain, policy, outcome: 'denied' }, value: denied },
      ]),
  )
  counter(
    registry,
    'sluice_rlqs_key_missing_total',
    'Buckets that lacked a part of the policy’s key, when they were first reported',
    ['domain', 'policy'],
    () =>
      assigner.uses.all.map(({ domain, policy, missing }) => ({
        labels: { domain, policy },
        value: missing,
      })),
  )
  counter(
    registry,
    'sluice_rlqs_passed_over_total',
    'Reports of buckets that get no assignment: no limit is assigned to them, their id is unreadable, or there are too many',
    ['reason'],
    () => Object.entries(assigner.passedOver).map(([reason, value]) => ({ labels: { reason }, value })),
  )
}

function sharesOf(assigner: Assigner): readonly Row[] {
  const sums = new Map<string, { labels: Row['labels']; assigned: number; quota: number }>()
  for (const { target, holders } of assigner.counters) {
    const { domain, policy, quota } = target
    if (typeof quota === 'string') continue
    const name = JSON.stringify([domain, policy])
    const sum = sums.get(name) ?? { labels: { domain, policy }, assigned: 0, quota: 0 }
    sums.set(name, sum)
    sum.quota += quota.tokens / quota.seconds
    for (const { assigned } of holders) sum.assigned += (assigned?.tokens ?? 0) / quota.seconds
  }
  return [...sums.values()].map(({ labels, assigned, quota }) => ({ labels, value: assigned / quota }))
}

function gauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  rows: () => readonly Row[],
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels, value } of rows()) this.set(labels, value)
    },
  })
}

function counter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  rows: () => readonly Row[],
): void {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels, value } of rows()) this.inc(labels, value)
    },
  })
}
