import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { prepareStore } from '../packages/cli/src/stores.ts'
import { startRedis } from '../packages/limiter/src/stores/redis/server.test-support.ts'
import { createService } from '../packages/service/src/index.ts'
import { rulesFolder } from '../packages/service/src/testing.ts'
import { ROOT } from './page.ts'
import { type Prometheus, promtool, startPrometheus } from './prometheus.test-support.ts'

// biome-ignore lint/suspicious/noExplicitAny: files have shapes of others
const read = (path: string): any => parse(readFileSync(join(ROOT, 'deploy', path), 'utf8'))
const dashboard = read('grafana/sluice.json')
const alerts: readonly { alert: string }[] = read('prometheus/alerts.yaml').groups[0].rules

describe('the alerts', () => {
  test('acceptance 6.10: promtool takes them, and their tests pass', () => {
    for (const argv of [
      ['check', 'config', 'deploy/prometheus/prometheus.yaml'],
      ['check', 'rules', 'deploy/prometheus/alerts.yaml'],
      ['test', 'rules', 'deploy/prometheus/alerts.test.yaml'],
    ])
      expect(promtool(argv)).toMatchObject({ status: 0 })
  })

  test.each(alerts.map(({ alert }) => alert))('%s is raised in one test, and not in another', (name) => {
    const cases = read('prometheus/alerts.test.yaml').tests.flatMap(
      (each: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }) => each.alert_rule_test,
    )
    const own = cases.filter(({ alertname }: { alertname: string }) => alertname === name)
    const quiet = own.filter((each: { exp_alerts: unknown[] }) => each.exp_alerts.length === 0)
    expect(quiet.length).toBeGreaterThan(0)
    expect(own.length).toBeGreaterThan(quiet.length)
  })
})

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 5/second, burst: 10, soft: 50% }
  - { name: banned, when: { path: /login }, key: [ip], limit: 20/minute, block: { after: 1, within: 1m, for: 1m } }
  - { name: watched, when: { path: /login }, key: [], limit: 10/second, mode: shadow }
  - { name: low, when: { path: /login }, key: [], limit: 10/second, on_limit: deprioritize }
  - { name: user, when: { path: /login }, key: [user], limit: 1000/second }
`

describe('a real Prometheus', () => {
  const made = { allowed: 0, denied: 0 }
  const stops: (() => Promise<unknown>)[] = []
  let prometheus: Prometheus
  let admin: string

  beforeAll(async () => {
    const folder = await rulesFolder({ 'rules.yaml': RULES })
    stops.push(folder.remove)
    const redis = await startRedis()
    stops.push(redis.stop)
    const { store, problem } = await prepareStore(`redis://127.0.0.1:${redis.port}`, {})
    stops.push(async () => store.close())
    expect(await problem()).toBeUndefined()
    const common = { rules: [folder.path], http: '127.0.0.1:0', admin: '127.0.0.1:0', watch: false }
    const services = [{}, { store, fallback: { deadlineMs: 10_000 } }].map((more) =>
      createService({ ...common, ...more, log: { level: 'silent' }, idleMs: 0 }),
    )
    const addresses = []
    for (const service of services) {
      addresses.push(await service.start())
      stops.push(() => service.stop())
    }
    admin = addresses[0]!.admin
    prometheus = await startPrometheus(addresses.map((each) => new URL(each.admin).host))
    stops.push(() => prometheus.stop())
    const scrapes = async (): Promise<number> =>
      (await prometheus.query('min(count_over_time(sluice_build_info[1m]))'))[0]?.value ?? 0
    const isEnough = async (): Promise<boolean> =>
      Math.min(made.allowed, made.denied) > 100 && (await scrapes()) >= 6
    for (let round = 0; !(await isEnough()) && round < 300; round++)
      for (const { http } of addresses) await replay(http, round)
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  /** A fifth of a second of traffic: many come seldom, one very often, and some ask for more than there is. */
  async function replay(http: string, round: number): Promise<void> {
    const batch = Array.from({ length: 20 }, (_, i) => ({
      domain: 'shop',
      request: { path: '/login', ip: `192.0.2.${i % 4 === 0 ? 1 : (round * 20 + i) % 250}` },
      cost: i === 7 ? 11 : 1,
    }))
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${http}/v1/check/batch`, {
      method: 'POST',
      headers,
      body: JSON.stringify(batch),
    })
    for (const { allowed } of (await answer.json()) as { allowed: boolean }[])
      made[allowed ? 'allowed' : 'denied']++
    await new Promise((resolve) => setTimeout(resolve, 100))
  }

  test('has sums that equal the decisions made', async () => {
    expect(made.allowed).toBeGreaterThan(100)
    expect(made.denied).toBeGreaterThan(100)
    const sum = async (selector: string): Promise<unknown> =>
      (await prometheus.query(`sum(${selector})`))[0]?.value
    await vi.waitFor(
      async () => {
        expect(await sum('sluice_requests_total{outcome="allowed"}')).toBe(made.allowed)
        expect(await sum('sluice_requests_total{outcome="denied"}')).toBe(made.denied)
        expect(await sum('sluice_policy_decisions_total{policy="login"}')).toBe(made.allowed + made.denied)
        expect(await sum('sluice_requests_degraded_total')).toBe(0)
        expect(await sum('sluice_policy_key_missing_total')).toBe(made.allowed + made.denied)
      },
      { timeout: 60_000, interval: 500 },
    )
  })

  test('knows each metric that alerts and dashboard name', async () => {
    const text = JSON.stringify(dashboard) + readFileSync(join(ROOT, 'deploy/prometheus/alerts.yaml'), 'utf8')
    const named = new Set(text.match(/\b(?:sluice|nodejs|process)_\w+/g))
    const known = new Set(await prometheus.get('/api/v1/label/__name__/values'))
    expect(named.size).toBeGreaterThan(20)
    expect([...named].filter((name) => !known.has(name))).toEqual([])
  })

  test('has data for each query of the Grafana dashboard', async () => {
    const queries = [
      ...dashboard.panels.flatMap(({ title, targets = [] }: Panel) =>
        targets.map(({ expr }) => [title, expr] as const),
      ),
      ...dashboard.annotations.list.map(({ name, expr }: { name: string; expr: string }) => [
        name,
        expr.replace(/ > 0$/, ''),
      ]),
    ] as [string, string][]
    expect(queries.length).toBeGreaterThan(30)
    const empty: string[] = []
    for (const [title, expr] of queries) {
      const filled = expr
        .replaceAll('$__rate_interval', '10m') // longer than these tests take
        .replace(/"\$(?:domain|policy|instance)"/g, '".*"')
      expect(filled).not.toContain('$')
      const samples = await prometheus.query(filled)
      if (!samples.some(({ value }) => Number.isFinite(value))) empty.push(`${title}: ${filled}`)
    }
    expect(empty).toEqual([])
  })

  test('has values for each variable of the dashboard', async () => {
    for (const { name, type, definition = '' } of dashboard.templating.list) {
      if (type !== 'query') continue
      const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
      const filled = selector!.replace('"$domain"', '".*"')
      expect([name, label! in ((await prometheus.query(filled))[0]?.metric ?? {})]).toEqual([name, true])
    }
  })

  test('evaluates each alert', async () => {
    const states = async (): Promise<unknown> => {
      const { groups } = await prometheus.get('/api/v1/rules')
      return groups[0].rules.map(({ name, health }: { name: string; health: string }) => [name, health])
    }
    const healthy = alerts.map(({ alert }) => [alert, 'ok'])
    await vi.waitFor(async () => expect(await states()).toEqual(healthy), { timeout: 60_000, interval: 500 })
  })

  test('promtool finds nothing wrong with names, types and texts of the metrics', async () => {
    const text = await (await fetch(`${admin}/metrics`)).text()
    // Those of the process and of envoyproxy/ratelimit have the names that dashboards of others know.
    const own = text.split('\n').filter((line) => /^(?:# \w+ )?sluice_/.test(line))
    expect(own.length).toBeGreaterThan(100)
    expect(promtool(['check', 'metrics'], `${own.join('\n')}\n`)).toEqual({ status: 0, printed: '' })
    expect(promtool(['check', 'metrics'], 'sluice_thing_total 1\n').status).not.toBe(0)
  })
})

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

test('the panels of the Grafana dashboard lie apart, and each says what it shows', () => {
  const panels: readonly Panel[] = dashboard.panels
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  const bare = dashboard.panels.filter(
    ({ type, description = '' }: { type: string; description?: string }) =>
      type !== 'row' && description === '',
  )
  expect(bare.map(({ title }: Panel) => title)).toEqual([])
})
