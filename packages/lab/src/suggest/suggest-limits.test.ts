import { algorithms } from '@sluice/limiter/algorithms'
import { compile } from '@sluice/limiter/rules'
import { ticksOf } from '@sluice/limiter/time'
import { loadText } from '@sluice/rulebook'
import { describe, expect, it } from 'vitest'
import { simulateTraffic } from '../simulate/simulate-traffic.ts'
import { keyOfTrace, rowsOfTrace, TRACES, type TraceRow, tracePath } from '../traces.test-support.ts'
import { sourceOf } from '../traffic/reading.test-support.ts'
import { sourcesOf } from '../traffic/source.ts'
import { suggestLimits } from './suggest-limits.ts'
import type { SuggestedPoint } from './suggestion.ts'

interface Figures {
  readonly limit: number
  readonly burst?: number
  readonly period: string
}

type Admits = (ms: number, cost: number) => boolean

/**
 * Laws of admission as their definitions have them, for one key: windows by all that was admitted before, buckets by the
 * theoretical arrival time of ITU-T I.371, in 1/limit ms so that nothing is rounded.
 */
const DEFINITIONS: Readonly<Record<string, (figures: Figures, periodMs: number) => Admits>> = {
  bucket({ limit, burst = limit }, periodMs) {
    let tat = 0
    return (ms, cost) => {
      if (limit === 0) return false
      const next = Math.max(tat, ms * limit) + cost * periodMs
      if (next - ms * limit > burst * periodMs) return false
      tat = next
      return true
    }
  },
  'fixed-window': ({ limit }, periodMs) =>
    recalling(periodMs, (times, ms) => limit - inWindow(times, Math.floor(ms / periodMs), periodMs)),
  log: ({ limit }, periodMs) =>
    recalling(periodMs, (times, ms) => limit - costOf(times.filter((past) => past.ms > ms - periodMs))),
  'sliding-window-counter': ({ limit }, periodMs) =>
    recalling(2 * periodMs, (times, ms) => {
      const window = Math.floor(ms / periodMs)
      const left = (window + 1) * periodMs - ms
      const carried = Math.floor((inWindow(times, window - 1, periodMs) * left) / periodMs)
      return limit - carried - inWindow(times, window, periodMs)
    }),
}

interface Past {
  readonly ms: number
  readonly cost: number
}

function costOf(times: readonly Past[]): number {
  return times.reduce((sum, { cost }) => sum + cost, 0)
}

function inWindow(times: readonly Past[], window: number, periodMs: number): number {
  return costOf(times.filter(({ ms }) => Math.floor(ms / periodMs) === window))
}

function recalling(reachMs: number, left: (times: readonly Past[], ms: number) => number): Admits {
  const times: Past[] = []
  return (ms, cost) => {
    while (times.length > 0 && times[0]!.ms < ms - reachMs) times.shift()
    const allowed = cost <= left(times, ms)
    if (allowed) times.push({ ms, cost })
    return allowed
  }
}

function definitionOf(name: string): (figures: Figures, periodMs: number) => Admits {
  if ('burst' in algorithms[name as keyof typeof algorithms].options) return DEFINITIONS.bucket!
  // Without ends of requests, a slot is held for the whole period.
  return DEFINITIONS[name] ?? DEFINITIONS.log!
}

/** How many requests, keys and sessions are refused. */
function refused(
  rows: readonly TraceRow[],
  name: string,
  figures: Figures,
  costOfRow: (row: TraceRow) => number = () => 1,
): { requests: number; keys: number; sessions: number } {
  const keys = new Map<string, { readonly admits: Admits; last: number; session: number }>()
  const sessions = new Set<string>()
  const denied = new Set<string>()
  let requests = 0
  for (const row of rows) {
    const { ms, key } = row
    const own = keys.get(key) ?? {
      admits: definitionOf(name)(figures, ticksOf(figures.period) / 1_000),
      last: Number.NEGATIVE_INFINITY,
      session: 0,
    }
    keys.set(key, own)
    if (ms - own.last >= 1_800_000) own.session++
    own.last = ms
    if (own.admits(ms, costOfRow(row))) continue
    requests++
    denied.add(key)
    sessions.add(`${key} ${own.session}`)
  }
  return { requests, keys: denied.size, sessions: sessions.size }
}

/** The neighbours of a point, one step lower. */
function oneLower({ limit, burst, period }: SuggestedPoint): Figures[] {
  if (burst === undefined) return [{ limit: limit - 1, period }]
  return [
    ...(limit > 1 ? [{ limit: limit - 1, burst, period }] : []),
    ...(burst > 1 ? [{ limit, burst: burst - 1, period }] : []),
  ]
}

const SHARE = 0.001
/** The brute force looks at everything again for each request, so of the traces with one key only the short periods. */
const PERIODS = ['1s', '1m']

describe.each(TRACES)('%s', (file) => {
  const rows = rowsOfTrace(file)
  const most = Math.floor(rows.length * SHARE)

  it('Acceptance 15.2: has limits that keep the share, and one less breaks it, for every algorithm', async () => {
    const key = keyOfTrace(file)
    const found = await suggestLimits(sourcesOf([tracePath(file)]), {
      key: [key],
      share: SHARE,
      periods: PERIODS,
    })
    expect(found).toMatchObject({
      requests: rows.length,
      met: { requests: rows.length },
      allowance: { most },
    })
    expect(found.algorithms.map(({ algorithm }) => algorithm)).toEqual(Object.keys(algorithms))
    for (const { algorithm, chosen } of found.algorithms) {
      expect(chosen, algorithm).not.toBeNull()
      const { denied, replayed, share } = chosen!
      expect([algorithm, denied]).toEqual([algorithm, refused(rows, algorithm, chosen!)])
      expect(denied.requests).toBeLessThanOrEqual(most)
      expect(replayed).toEqual({ denied: denied.requests, share })
      for (const lower of oneLower(chosen!)) {
        expect([algorithm, lower, refused(rows, algorithm, lower).requests > most]).toEqual([
          algorithm,
          lower,
          true,
        ])
      }
    }
  })
})

describe('where requests cost other than 1', () => {
  it.each([
    ['azure-llm-2023-code.csv.gz', { cost: ['input_tokens', 'output_tokens'] }],
    ['mooncake-conversation-2025.csv.gz', { cost: ['input_tokens', 'output_tokens'] }],
    ['mooncake-synthetic-2025.csv.gz', { ruleCost: 3 }],
  ] as const)(
    '%s: limits keep the share by plain replay and by count, and one less breaks it',
    async (file, costs) => {
      const rows = rowsOfTrace(file)
      const costOfRow = ({ tokens }: TraceRow): number => ('ruleCost' in costs ? costs.ruleCost : tokens)
      const most = Math.floor(rows.length * 0.01)
      const found = await suggestLimits(sourcesOf([tracePath(file)]), {
        key: ['tenant'],
        share: 0.01,
        periods: ['1s', '1m'],
        ...('cost' in costs ? { cost: [...costs.cost] } : costs),
      })
      for (const { algorithm, points, chosen } of found.algorithms) {
        expect(points.length).toBeGreaterThan(0)
        for (const point of points) {
          const { denied, oneLowerShare } = point
          expect([algorithm, point, denied]).toEqual([
            algorithm,
            point,
            refused(rows, algorithm, point, costOfRow),
          ])
          expect(denied.requests).toBeLessThanOrEqual(most)
          const lower = oneLower(point).map((each) => refused(rows, algorithm, each, costOfRow).requests)
          expect(Math.min(...lower)).toBeGreaterThan(most)
          expect(oneLowerShare).toBe(Math.min(...lower) / rows.length)
        }
        expect(chosen!.replayed!.denied).toBe(chosen!.denied.requests)
      }
      const minute = found.demand.find(({ seconds }) => seconds === 60)!
      expect(minute.max).toBe(busiest(rows, 60_000, costOfRow))
      expect(found.unlimited.worstBurst).toBe(busiest(rows, 1_000, costOfRow))
    },
  )

  it('the rule states the cost, and its simulation refuses what it states', async () => {
    const line = (i: number): string => `${i * 90},u${i % 3},${(i * 7) % 11}\n`
    const log = sourceOf(`t_ms,user,units\n${Array.from({ length: 900 }, (_, i) => line(i)).join('')}`)
    for (const algorithm of Object.keys(algorithms) as (keyof typeof algorithms)[]) {
      const found = await suggestLimits([log], {
        key: ['user'],
        share: 0.05,
        ruleCost: 'attribute:units',
        algorithm,
      })
      expect(found.rule).toContain('cost: "attribute:units"')
      const [domain] = loadText(found.rule!)
      const report = await simulateTraffic([log], { rules: compile([domain!]), domain: domain! })
      const { chosen } = found.algorithms.find((each) => each.algorithm === algorithm)!
      expect(chosen!.denied.requests).toBeGreaterThan(0)
      expect(report.policies[0]!.denied).toBe(chosen!.denied.requests)
    }
  })
})

/** The most that one key asks for within so many milliseconds. */
function busiest(rows: readonly TraceRow[], ms: number, costOfRow: (row: TraceRow) => number): number {
  let most = 0
  for (const key of new Set(rows.map((row) => row.key))) {
    const own = rows.filter((row) => row.key === key)
    let [first, inWindow] = [0, 0]
    for (const row of own) {
      inWindow += costOfRow(row)
      while (row.ms - own[first]!.ms >= ms) inWindow -= costOfRow(own[first++]!)
      most = Math.max(most, inWindow)
    }
  }
  return most
}

describe('the frontier', () => {
  const file = 'nasa-1995-07-01.log.gz'
  const rows = rowsOfTrace(file)
  const sources = sourcesOf([tracePath(file)])

  it('Acceptance 15.2: has no smaller limit, of requests, keys and sessions alike', async () => {
    for (const of of ['requests', 'keys', 'sessions'] as const) {
      const found = await suggestLimits(sources, { key: ['ip'], share: 0.01, of, periods: ['10s', '1m'] })
      const most = Math.floor(found.met[of] * 0.01)
      expect(found.allowance).toEqual({ share: 0.01, of, most })
      for (const { algorithm, points } of found.algorithms) {
        expect(points.length).toBeGreaterThan(0)
        for (const point of points) {
          expect([algorithm, point.denied]).toEqual([algorithm, refused(rows, algorithm, point)])
          expect(point.denied[of]).toBeLessThanOrEqual(most)
          const lower = oneLower(point).map((each) => refused(rows, algorithm, each)[of])
          expect([algorithm, point, lower.length > 0 && Math.min(...lower) > most]).toEqual([
            algorithm,
            point,
            true,
          ])
          expect(point.oneLowerShare).toBe(Math.min(...lower) / found.met[of])
        }
      }
    }
  })

  it('Acceptance 15.2: is a rule that a rulebook takes, and its simulation refuses what it states', async () => {
    for (const algorithm of Object.keys(algorithms)) {
      const found = await suggestLimits(sources, {
        key: ['ip'],
        when: { method: ['GET'], path: ['/images/**'] },
        share: 0.005,
        algorithm: algorithm as keyof typeof algorithms,
        name: 'a log\ndomain: other',
      })
      const [domain] = loadText(found.rule!)
      const report = await simulateTraffic(sources, { rules: compile([domain!]), domain: domain! })
      const { chosen } = found.algorithms.find((each) => each.algorithm === algorithm)!
      expect(report.policies).toMatchObject([
        {
          name: 'by-ip',
          matched: found.met.requests,
          denied: chosen!.denied.requests,
          deniedShare: chosen!.share,
        },
      ])
    }
  })

  it('Acceptance 15.2: comes with the demand of keys, as counting says', async () => {
    const { demand, unlimited } = await suggestLimits(sources, { key: ['ip'], share: 0.001 })
    for (const { seconds, p50, p99, p99_9, max } of demand) {
      const peaks = [...new Set(rows.map(({ key }) => key))]
        .map((key) => rows.filter((row) => row.key === key))
        .map((own) =>
          Math.max(
            ...own.map(({ ms }) => own.filter((row) => row.ms <= ms && row.ms > ms - seconds * 1_000).length),
          ),
        )
        .sort((a, b) => a - b)
      const at = (share: number) => peaks[Math.ceil(share * peaks.length) - 1]
      expect([p50, p99, p99_9, max]).toEqual([at(0.5), at(0.99), at(0.999), peaks.at(-1)])
    }
    expect(unlimited.peakRate).toBe(8)
  })

  it('Acceptance 15.4: lets no more pass than the next hop takes', async () => {
    const wide = await suggestLimits(sources, { key: ['ip'], share: 0.01 })
    const narrow = await suggestLimits(sources, { key: ['ip'], share: 0.01, nextHop: 8 })
    const all = narrow.algorithms.flatMap(({ points }) => points)
    expect(all.length).toBeGreaterThan(0)
    for (const { limit, burst = limit, peakRate } of all) {
      expect(burst).toBeLessThanOrEqual(8)
      expect(peakRate).toBeLessThanOrEqual(8)
    }
    expect(
      wide.algorithms.flatMap(({ points }) => points).some(({ limit, burst = limit }) => burst > 8),
    ).toBe(true)
    const none = await suggestLimits(sources, { key: ['ip'], share: 0.001, nextHop: 2 })
    expect(none.rule).toBeNull()
    expect(none.notes.join()).toContain('no limit by this key refuses at most 0.1 %')
  })
})

describe('a key above the limit', () => {
  const line = (second: number, ip: string, path: string, referer = '-'): string =>
    `${ip} - - [17/May/2015:10:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')} +0000] "GET ${path} HTTP/1.1" 200 5 "${referer}" "a"\n`

  it('Acceptance 15.3: comes with the limit that would have served it, and with reasons why it looks like a machine', async () => {
    const machine = Array.from({ length: 300 }, (_, i) => line(i, '192.0.2.1', '/api?i=1'))
    const people = Array.from({ length: 300 }, (_, i) =>
      line((i * i * 7) % 300, `192.0.2.${10 + (i % 20)}`, `/p${i}`, 'https://shop.example/'),
    )
    const log = [...machine, ...people].join('')
    const { above, rule } = await suggestLimits([sourceOf(log)], { key: ['ip'], share: 0.4, periods: ['1m'] })
    expect(rule).not.toBeNull()
    expect(above[0]).toMatchObject({
      key: '192.0.2.1',
      requests: 300,
      peakMinute: 60,
      reasons: ['evenly spaced: every 1.00 s, give or take 0 %', 'one path only', 'no referer'],
    })
    expect(above.slice(1).flatMap(({ reasons }) => reasons)).toEqual([])
    // The same rule with that limit refuses it nothing.
    const { servedBy } = above[0]!
    const served = rule!
      .replace(/limit: \d+/, `limit: ${servedBy}`)
      .replace(/burst: (\d+)/, (_, burst) => `burst: ${Math.max(burst, servedBy)}`)
    const [domain] = loadText(served)
    const report = await simulateTraffic([sourceOf(log)], { rules: compile([domain!]), domain: domain! })
    expect(report.policies[0]!.top.map(({ key }) => key)).not.toContain('192.0.2.1')
  })
})

describe('a log', () => {
  it('that says how long requests take has slots that are free when they end', async () => {
    const entry = (ms: number, took: number): string => `{"ts":${ms},"who":"a","took":${took}}\n`
    const log = Array.from({ length: 100 }, (_, i) => entry(1_767_225_600_000 + i * 100, 250)).join('')
    const fields = 'time=ts,user=who,duration-ms=took'
    const { algorithms: found } = await suggestLimits([sourceOf(log)], { key: ['user'], share: 0, fields })
    const { chosen } = found.find(({ algorithm }) => algorithms[algorithm].traits.holds)!
    expect(chosen).toMatchObject({ limit: 3, period: '1s', denied: { requests: 0 }, replayed: { denied: 0 } })
  })

  it('without any request of the rule has no limit', async () => {
    const found = await suggestLimits([sourceOf('t_ms,key\n1,a\n')], {
      key: ['user'],
      when: { path: ['/x'] },
      share: 0.1,
    })
    expect(found).toMatchObject({ met: { requests: 0, keys: 0 }, algorithms: [], rule: null, above: [] })
  })

  it('that can be read once is not replayed', async () => {
    const source = { ...sourceOf('t_ms,key\n1,a\n2,a\n3,b\n'), isRepeatable: false }
    const found = await suggestLimits([source], { key: ['user'], share: 0 })
    expect(found.rule).not.toBeNull()
    expect(found.notes).toContain('the choices were not replayed: the log can be read only once')
  })
})
