import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runLine } from '../packages/cli/src/testing.ts'
import { NASA_LOG, type TraceService, traceService } from '../packages/service/src/trace.test-support.ts'
import { type Prometheus, startPrometheus } from './prometheus.test-support.ts'

const RULES = `
domain: nasa
limits:
  - { name: host, key: [ip], limit: 3/minute }
  - { name: images, when: { path: /images/** }, key: [ip], limit: 20/hour, algorithm: sliding-window-log }
  - { name: everyone, key: [], limit: 30/minute, mode: shadow }
  - { name: shuttle, when: { path: /shuttle/** }, key: [], limit: 10/minute, on_limit: deprioritize }
  - { name: user, key: [user], limit: 1/day }
`

let service: TraceService
let prometheus: Prometheus
let answers: { readonly allowed: number; readonly denied: number }

beforeAll(async () => {
  service = await traceService(RULES)
  prometheus = await startPrometheus([new URL(service.admin).host])
  answers = await service.replay()
}, 300_000)
afterAll(async () => {
  await prometheus?.stop()
  await service?.stop()
})

test('acceptance 6.1: after a replay of a real log the sums of Prometheus are those of the answers, and of simulate', async () => {
  const { out } = await runLine(['simulate', service.rules, NASA_LOG, '--format', 'json'])
  const simulated = JSON.parse(out)
  expect(simulated.requests).toBe(9_999)
  const sum = async (selector: string): Promise<number> =>
    (await prometheus.query(`sum(${selector})`))[0]!.value
  const of = (policy: string, ...outcomes: string[]): Promise<number> =>
    sum(`sluice_policy_decisions_total{policy="${policy}",outcome=~"${outcomes.join('|')}"}`)
  await vi.waitFor(async () => expect(await sum('sluice_requests_total')).toBe(9_999), {
    timeout: 60_000,
    interval: 500,
  })
  expect(await sum('sluice_requests_total{outcome="allowed"}')).toBe(answers.allowed)
  expect(await sum('sluice_requests_total{outcome="denied"}')).toBe(answers.denied)
  expect(answers.denied).toBeGreaterThan(300)
  for (const { name, matched, admitted, denied, missingKey } of simulated.policies) {
    const counted = [
      await of(name, '.*'),
      await of(name, 'allowed'),
      await of(name, 'limited', 'would_limit', 'deprioritized'),
      await sum(`sluice_policy_key_missing_total{policy="${name}"} or vector(0)`),
    ]
    expect([name, ...counted]).toEqual([name, matched, admitted, denied, missingKey])
  }
  for (const name of ['host', 'images'])
    expect([name, await sum(`sluice_policy_wait_seconds_count{policy="${name}"}`)]).toEqual([
      name,
      await of(name, 'limited'),
    ])
  expect(await sum('sluice_policy_wait_never_total')).toBe(0)
  expect(await of('everyone', 'would_limit')).toBeGreaterThan(0)
  expect(await of('shuttle', 'deprioritized')).toBeGreaterThan(0)
})
