import type { Registry } from 'prom-client'
import { type KeptRow, keptCounter, keptGauge, keptHistogram } from './kept-metrics.ts'
import {
  type PolicyTally,
  REMAINING_BUCKETS,
  REMAINING_ONE_IN,
  type Tallies,
  WAIT_BUCKETS,
} from './tallies.ts'

export type PolicyLabel = 'domain' | 'policy'

/**
 * What was decided, in all and by each policy. Labels are names of the rulebook.
 * @example
 * reportDecisions(tallies, [registry])
 */
export function reportDecisions(tallies: Tallies, registers: Registry[]): void {
  reportRequests(tallies, registers)
  reportPolicies(tallies, registers)
  reportWaits(tallies, registers)
  reportRemaining(tallies, registers)
}

function reportRequests({ domains }: Tallies, registers: Registry[]): void {
  keptCounter(registers, {
    name: 'sluice_requests_total',
    help: 'Requests decided',
    labelNames: ['domain', 'outcome'],
    rows: () =>
      [...domains].flatMap(([domain, { allowed, denied }]): KeptRow<'domain' | 'outcome'>[] => [
        [{ domain, outcome: 'allowed' }, allowed],
        [{ domain, outcome: 'denied' }, denied],
      ]),
  })
  keptCounter(registers, {
    name: 'sluice_requests_degraded_total',
    help: 'Requests decided without the store, of those in sluice_requests_total',
    labelNames: ['domain'],
    rows: () => [...domains].map(([domain, { degraded }]) => [{ domain }, degraded]),
  })
}

function reportPolicies({ policies }: Tallies, registers: Registry[]): void {
  keptCounter(registers, {
    name: 'sluice_policy_decisions_total',
    help: 'What each policy said, for itself: degraded means without the store, would_limit is said in shadow mode',
    labelNames: ['domain', 'policy', 'outcome'],
    rows: () =>
      policies.flatMap(
        ({
          domain,
          policy,
          allowed,
          limited,
          error,
          shadow,
          deprioritized,
        }): KeptRow<PolicyLabel | 'outcome'>[] => [
          [{ domain, policy, outcome: 'allowed' }, allowed],
          [{ domain, policy, outcome: 'limited' }, limited],
          [{ domain, policy, outcome: 'degraded' }, error],
          [{ domain, policy, outcome: 'would_limit' }, shadow],
          [{ domain, policy, outcome: 'deprioritized' }, deprioritized],
        ],
      ),
  })
  const counter = (name: string, help: string, read: (tally: PolicyTally) => number): void =>
    keptCounter(registers, { name, help, labelNames: ['domain', 'policy'], rows: rowsOf(policies, read) })
  counter('sluice_policy_soft_total', 'Decisions past the policy’s soft threshold', ({ soft }) => soft)
  counter(
    'sluice_policy_blocked_total',
    'Refusals by a block, of those with the outcome limited in sluice_policy_decisions_total',
    ({ blocked }) => blocked,
  )
  counter(
    'sluice_policy_burst_exhausted_total',
    'Admissions that took the last that was left of a key’s limit',
    ({ exhausted }) => exhausted,
  )
  counter(
    'sluice_policy_key_missing_total',
    'Requests that a policy skipped, because they lack a part of its key',
    ({ keyMissing }) => keyMissing,
  )
}

function reportWaits({ policies }: Tallies, registers: Registry[]): void {
  keptHistogram(
    registers,
    {
      name: 'sluice_policy_wait_seconds',
      help: 'Waits that refusals asked clients for, by each policy that refused',
      rows: rowsOf(policies, ({ waits }) => waits),
    },
    WAIT_BUCKETS,
  )
  keptCounter(registers, {
    name: 'sluice_policy_wait_never_total',
    help: 'Refusals that no wait helps, such as of a cost above the limit',
    labelNames: ['domain', 'policy'],
    rows: rowsOf(policies, ({ never }) => never),
  })
}

function reportRemaining({ policies }: Tallies, registers: Registry[]): void {
  keptHistogram(
    registers,
    {
      name: 'sluice_policy_remaining_ratio',
      help: `What a decision left, as a share of the limit: of one decision in ${REMAINING_ONE_IN}`,
      rows: rowsOf(policies, ({ remaining }) => remaining),
    },
    REMAINING_BUCKETS,
  )
  keptGauge(registers, {
    name: 'sluice_policy_remaining_sampled_one_in',
    help: 'Of how many decisions one is in sluice_policy_remaining_ratio, on average',
    rows: () => [[{}, REMAINING_ONE_IN]],
  })
}

function rowsOf<Value>(
  policies: readonly PolicyTally[],
  read: (tally: PolicyTally) => Value,
): () => KeptRow<PolicyLabel, Value>[] {
  return () => policies.map((tally) => [{ domain: tally.domain, policy: tally.policy }, read(tally)])
}
