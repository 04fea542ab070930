import type { PolicySecond, PolicySpike } from '@sluice/observe/live'
import { afterEach, describe, expect, test } from 'vitest'
import { bench, get, post, type ServiceBench } from '../testing.ts'
import { nasaTrace } from '../trace.test-support.ts'

const LIMIT = 5
const RULES = `
domain: nasa
limits:
  - { name: everyone, key: [], limit: ${LIMIT}/second, algorithm: sliding-window-log }
  - { name: watched, key: [], limit: 1/second, mode: shadow }
`
/** Seconds of the log, and of the spike in it. */
const SECONDS = 880
const SPIKE = { from: 400, to: 460, times: 10 }

const opened: ServiceBench[] = []
afterEach(async () => {
  for (const service of opened.splice(0)) await service.close()
})

async function open(): Promise<ServiceBench> {
  const service = await bench(RULES)
  opened.push(service)
  return service
}

describe('GET /v1/spikes', () => {
  test('acceptance 6.8: a spike of ten times a real log is seen second by second, and never passes the limit', async () => {
    const service = await open()
    const trace = nasaTrace()
    const begin = trace[0]!.at
    const came = new Map(trace.map(({ at, requests }) => [(at - begin) / 1_000, requests]))
    const times = (second: number): number => (second >= SPIKE.from && second < SPIKE.to ? SPIKE.times : 1)
    for (let second = 0; second < SECONDS; second++) {
      service.clock.set((begin + second * 1_000) * 1_000)
      const batch = (came.get(second) ?? []).flatMap((request) =>
        Array.from({ length: times(second) }, () => ({ domain: 'nasa', request })),
      )
      if (batch.length > 0) expect((await post(service.http, '/v1/check/batch', batch)).status).toBe(200)
      service.live.tick()
    }
    const { seconds } = (await get(service.admin, '/v1/spikes?domain=nasa&policy=everyone')).body as {
      seconds: readonly PolicySecond[]
    }
    expect(seconds.length).toBe(SECONDS)
    const demand = Array.from({ length: SECONDS }, (_, i) => (came.get(i)?.length ?? 0) * times(i))
    expect(seconds.map(([, asked]) => asked)).toEqual(demand)
    expect(Math.max(...seconds.map(([, , admitted]) => admitted))).toBe(LIMIT)
    expect(seconds.filter(([, asked, admitted, refused]) => admitted + refused !== asked)).toEqual([])
    const spike = seconds.slice(SPIKE.from, SPIKE.to)
    const sum = (rows: readonly PolicySecond[], column: 1 | 2 | 3): number =>
      rows.reduce((all, row) => all + row[column], 0)
    expect(sum(spike, 1)).toBe(
      SPIKE.times * spike.reduce((all, _, i) => all + (came.get(SPIKE.from + i)?.length ?? 0), 0),
    )
    expect(sum(spike, 3)).toBeGreaterThan(0.5 * sum(spike, 1))
    const { spikes } = (await get(service.admin, '/v1/spikes')).body as { spikes: readonly PolicySpike[] }
    const total = demand.reduce((all, each) => all + each)
    expect(spikes).toMatchObject([
      {
        policy: 'everyone',
        demand: total,
        admitted: sum(seconds, 2),
        refused: sum(seconds, 3),
        peak: { demand: Math.max(...demand), admitted: LIMIT },
      },
      { policy: 'watched', demand: total, admitted: total, refused: 0 },
    ])
    const metrics = (await service.admin.inject({ url: '/metrics', headers: { host: 'localhost' } })).body
    expect(metrics).toContain(
      `sluice_policy_decisions_total{domain="nasa",policy="everyone",outcome="limited"} ${sum(seconds, 3)}\n`,
    )
  })

  test.each([
    ['?domain=nasa', /give both domain and policy/],
    ['?domain=nasa&policy=a&policy=b', /give both domain and policy, once each/],
    ['?name=login', /there is no parameter name/],
  ])('refuses %s', async (query, detail) => {
    const { status, body } = await get((await open()).admin, `/v1/spikes${query}`)
    expect([status, body.detail]).toEqual([400, expect.stringMatching(detail)])
  })
})
