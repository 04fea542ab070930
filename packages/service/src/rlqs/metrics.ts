import { type KeptRow, keptCounter, keptGauge, type PolicyLabel } from '@sluice/observe/parts'
import type { Registry } from 'prom-client'
import type { Assigner } from './assigner.ts'

/** Metrics of what is assigned. Labels are names of the rulebook. */
export function reportRlqs(registry: Registry, assigner: Assigner): void {
  keptGauge([registry], {
    name: 'sluice_rlqs_streams',
    help: 'Streams of proxies that limits are assigned to',
    rows: () => [[{}, assigner.streams]],
  })
  keptGauge([registry], {
    name: 'sluice_rlqs_buckets',
    help: 'Buckets that are assigned, also those of closed streams whose assignments have not ended',
    rows: () => [[{}, assigner.buckets]],
  })
  keptGauge<PolicyLabel>([registry], {
    name: 'sluice_rlqs_assigned_share',
    help: 'Share of the rate that is assigned to open streams, over all keys of the policy that proxies ask for',
    labelNames: ['domain', 'policy'],
    rows: () => sharesOf(assigner),
  })
  keptCounter<PolicyLabel | 'outcome'>([registry], {
    name: 'sluice_rlqs_requests_total',
    help: 'Requests that proxies decided by their assignments, as they report them',
    labelNames: ['domain', 'policy', 'outcome'],
    rows: () =>
      assigner.uses.all.flatMap(({ domain, policy, allowed, denied }) => [
        [{ domain, policy, outcome: 'allowed' }, allowed] as const,
        [{ domain, policy, outcome: 'denied' }, denied] as const,
      ]),
  })
  keptCounter<PolicyLabel>([registry], {
    name: 'sluice_rlqs_key_missing_total',
    help: 'Buckets that lacked a part of the policy’s key, when they were first reported',
    labelNames: ['domain', 'policy'],
    rows: () => assigner.uses.all.map(({ domain, policy, missing }) => [{ domain, policy }, missing]),
  })
  keptCounter([registry], {
    name: 'sluice_rlqs_passed_over_total',
    help: 'Reports of buckets that get no assignment: no limit is assigned to them, their id is unreadable, or there are too many',
    labelNames: ['reason'],
    rows: () => Object.entries(assigner.passedOver).map(([reason, value]) => [{ reason }, value]),
  })
}

function sharesOf(assigner: Assigner): readonly KeptRow<PolicyLabel>[] {
  const sums = new Map<string, { labels: Record<PolicyLabel, string>; assigned: number; quota: number }>()
  for (const { target, holders } of assigner.counters) {
    const { domain, policy, quota } = target
    if (typeof quota === 'string') continue
    const name = JSON.stringify([domain, policy])
    const sum = sums.get(name) ?? { labels: { domain, policy }, assigned: 0, quota: 0 }
    sums.set(name, sum)
    sum.quota += quota.tokens / quota.seconds
    for (const { assigned } of holders) sum.assigned += (assigned?.tokens ?? 0) / quota.seconds
  }
  return [...sums.values()].map(({ labels, assigned, quota }) => [labels, assigned / quota])
}
