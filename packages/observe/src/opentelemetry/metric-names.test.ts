import { expect, test } from 'vitest'
import { metricNameOf } from './metric-names.ts'

test.each([
  ['sluice_requests_total', 'sluice.requests', '{request}'],
  ['sluice_requests_degraded_total', 'sluice.requests_degraded', '{request}'],
  ['sluice_policy_decisions_total', 'sluice.policy.decisions', '{decision}'],
  ['sluice_policy_blocked_total', 'sluice.policy.blocked', '{request}'],
  ['sluice_policy_remaining_ratio', 'sluice.policy.remaining', '1'],
  ['sluice_decision_duration_seconds', 'sluice.decision.duration', 's'],
  ['sluice_store_answer_duration_seconds', 'sluice.store.answer_duration', 's'],
  ['sluice_store_bytes', 'sluice.store.size', 'By'],
  ['sluice_store_keys', 'sluice.store.keys', '{key}'],
  ['sluice_store_up', 'sluice.store.up', '1'],
  ['sluice_rules_last_reload_success_timestamp_seconds', 'sluice.rules.last_reload_success_timestamp', 's'],
  ['ratelimit_service_rate_limit_total_hits', 'ratelimit.service.rate_limit_total_hits', '{hit}'],
  ['process_resident_memory_bytes', 'process.memory.usage', 'By'],
  ['nodejs_eventloop_lag_p99_seconds', 'nodejs.eventloop.delay.p99', 's'],
])('%s is %s in %s', (prometheus, name, unit) => {
  expect(metricNameOf(prometheus, /_total$|_hits$/.test(prometheus))).toMatchObject({ name, unit })
})

test('labels become attributes of the same namespace; what OpenTelemetry has no name for is left out', () => {
  expect(metricNameOf('sluice_policy_decisions_total', true)!.attributeOf('policy')).toBe('sluice.policy')
  expect(metricNameOf('nodejs_gc_duration_seconds', false)!.attributeOf('kind')).toBe('v8js.gc.type')
  expect(metricNameOf('process_virtual_memory_bytes', false)).toBeUndefined()
  expect(metricNameOf('an_applications_own', false)).toBeUndefined()
})
