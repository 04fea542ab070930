import { afterEach, expect, test } from 'vitest'
import { type Answered, bench, post, type ServiceBench } from '../testing.ts'
import { scrape } from './scrape.test-support.ts'

const RULES = `
domain: shop
limits:
  - { name: burst, when: { path: /burst }, key: [ip], limit: 1/second, burst: 5, algorithm: token-bucket }
  - { name: hour, when: { path: /mixed }, key: [ip], limit: 300/hour, algorithm: sliding-window-log }
  - { name: second, when: { path: /mixed }, key: [ip], limit: 5/second, algorithm: gcra }
  - { name: watched, when: { path: /mixed }, key: [], limit: 30/minute, mode: shadow }
  - { name: low, when: { path: /mixed }, key: [], limit: 60/minute, on_limit: deprioritize }
  - { name: banned, when: { path: /banned }, key: [ip], limit: 1/hour, block: { after: 1, within: 1m, for: 1m } }
`
const opened: ServiceBench[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open(): Promise<ServiceBench> {
  const service = await bench(RULES, { auth: { trusted: ['127.0.0.1'] } })
  opened.push(service)
  return service
}

const check = (service: ServiceBench, path: string, more: object = {}): Promise<Answered> =>
  post(service.http, '/v1/check', { domain: 'shop', request: { path, ip: '203.0.113.1' }, ...more })
const policy = (metric: string, name: string, more = ''): string =>
  `sluice_policy_${metric}{domain="shop",policy="${name}"${more}}`

test('acceptance 6.2: a burst that is used up is counted once, and once more after it has refilled', async () => {
  const service = await open()
  const exhausted = async (): Promise<unknown> =>
    (await scrape(service)).get(policy('burst_exhausted_total', 'burst'))
  for (let i = 0; i < 10; i++) await check(service, '/burst')
  expect(await exhausted()).toBe(1)
  service.clock.advance(60_000)
  for (let i = 0; i < 4; i++) await check(service, '/burst')
  expect(await exhausted()).toBe(1)
  for (let i = 0; i < 6; i++) await check(service, '/burst')
  expect(await exhausted()).toBe(2)
})

test('a charge that another policy refuses takes nothing, so it does not use a burst up', async () => {
  const service = await open()
  for (let i = 0; i < 300; i++) {
    await check(service, '/mixed')
    service.clock.advance(1_000)
  }
  await check(service, '/mixed', { cost: 5 }) // `second` has just 5 left; `hour` refuses
  const samples = await scrape(service)
  expect(samples.get(policy('burst_exhausted_total', 'hour'))).toBe(1)
  expect(samples.get(policy('burst_exhausted_total', 'second'))).toBe(0)
})

test('acceptance 6.1: after a replay the sums are those of the answers', async () => {
  const service = await open()
  const told: Record<string, number> = {}
  const add = (name: string, value = 1): void => {
    told[name] = (told[name] ?? 0) + value
  }
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let i = 0; i < 2_000; i++) {
    const cost = random(50) === 0 ? 6 : 1
    const request = { path: '/mixed', ip: `203.0.113.${random(2) * random(20)}` }
    const { body } = await post(service.http, '/v1/check', { domain: 'shop', request, cost })
    add(body.allowed ? 'allowed' : 'denied')
    for (const { policy: name, allowed, retryAfterMs } of body.policies) {
      add(`${name} ${allowed ? 'fits' : 'does not'}`)
      if (allowed || name === 'watched' || name === 'low') continue
      if (retryAfterMs === null) add(`${name} never`)
      else add(`${name} waits`, retryAfterMs / 1_000)
    }
    service.clock.advance(random(100))
  }
  const samples = await scrape(service)
  const outcome = (name: string, of: string): number =>
    samples.get(policy('decisions_total', name, `,outcome="${of}"`))!
  expect(samples.get('sluice_requests_total{domain="shop",outcome="allowed"}')).toBe(told.allowed)
  expect(samples.get('sluice_requests_total{domain="shop",outcome="denied"}')).toBe(told.denied)
  const over = { hour: 'limited', second: 'limited', watched: 'would_limit', low: 'deprioritized' }
  for (const [name, of] of Object.entries(over)) {
    expect(told[`${name} does not`], name).toBeGreaterThan(20)
    expect([name, outcome(name, 'allowed'), outcome(name, of)]).toEqual([
      name,
      told[`${name} fits`],
      told[`${name} does not`],
    ])
  }
  for (const name of ['hour', 'second']) {
    const never = told[`${name} never`] ?? 0
    expect(samples.get(policy('wait_never_total', name))).toBe(never)
    expect(samples.get(policy('wait_seconds_count', name))).toBe(outcome(name, 'limited') - never)
    expect(samples.get(policy('wait_seconds_sum', name))).toBeCloseTo(told[`${name} waits`]!, 3)
    expect(samples.get(policy('wait_seconds_bucket', name, ',le="+Inf"'))).toBe(
      samples.get(policy('wait_seconds_count', name)),
    )
  }
  expect(told['second never']).toBeGreaterThan(0)
  const sampled = samples.get(policy('remaining_ratio_count', 'hour'))!
  expect(samples.get('sluice_policy_remaining_sampled_one_in')).toBe(10)
  expect(sampled).toBeGreaterThan(2_000 / 20)
  expect(sampled).toBeLessThan(2_000 / 5)
})

test('what is left is counted as a share of the limit, and waits by how long they are', async () => {
  const service = await open()
  await check(service, '/burst') // the first of a policy is always a sample: 4 of 5 are left
  for (let i = 0; i < 5; i++) await check(service, '/burst')
  const samples = await scrape(service)
  const left = (le: string): unknown => samples.get(policy('remaining_ratio_bucket', 'burst', `,le="${le}"`))
  expect(left('1')).toBe(samples.get(policy('remaining_ratio_count', 'burst')))
  expect([left('0.8'), left('0.6')].map(Number)[0]).toBeGreaterThanOrEqual(1)
  const waits = (le: string): unknown => samples.get(policy('wait_seconds_bucket', 'burst', `,le="${le}"`))
  expect([waits('0.5'), waits('1'), waits('86400')]).toEqual([0, 1, 1])
})

test('refusals by a block are counted apart', async () => {
  const service = await open()
  for (let i = 0; i < 4; i++) await check(service, '/banned')
  const samples = await scrape(service)
  expect(samples.get(policy('decisions_total', 'banned', ',outcome="limited"'))).toBe(3)
  expect(samples.get(policy('blocked_total', 'banned'))).toBeGreaterThanOrEqual(2)
})

test('acceptance 6.9: proxies and applications are layers of their own', async () => {
  const service = await open()
  for (let i = 0; i < 6; i++) await service.http.inject({ url: '/auth/burst' })
  for (let i = 0; i < 3; i++) await check(service, '/burst')
  const samples = await scrape(service)
  const layer = (name: string): unknown =>
    samples.get(`sluice_decision_duration_seconds_count{layer="${name}"}`)
  expect([layer('edge'), layer('service')]).toEqual([6, 3])
})

test('tells the version in force, and since when the files have a mistake', async () => {
  const service = await open()
  const since = 'sluice_rules_error_since_timestamp_seconds'
  const version = `sluice_rules_info{version="${service.rules.live!.version}"}`
  expect((await scrape(service)).get(since)).toBe(0)
  service.clock.advance(5_000)
  await service.folder.write('rules.yaml', 'domain: shop\nlimits: [{ name: x }]\n')
  await service.rules.reload()
  const samples = await scrape(service)
  expect([samples.get(since), samples.get(version)]).toEqual([service.clock.now() / 1e6, 1])
  expect(samples.get('sluice_rules_last_reload_successful')).toBe(0)
})
