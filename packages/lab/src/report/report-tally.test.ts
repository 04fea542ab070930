import { describe, expect, it } from 'vitest'
import { simulateTraffic } from '../simulate/simulate-traffic.ts'
import { keyOfTrace, rowsOfTrace, rulesOf, TRACES, tracePath } from '../traces.test-support.ts'
import { sourceOf } from '../traffic/reading.test-support.ts'
import { sourcesOf, type TrafficSource } from '../traffic/source.ts'
import { MOST_BINS } from './bins.ts'
import { KeyRecords } from './key-records.ts'
import { RateTally } from './rate-tally.ts'
import { ReportTally } from './report-tally.ts'
import type { TrafficFigures } from './traffic-figures.ts'

async function figuresOf(sources: readonly TrafficSource[], limits: string): Promise<TrafficFigures> {
  const tally = new ReportTally()
  const simulation = await simulateTraffic(sources, { ...rulesOf(limits), onFate: tally.add })
  return tally.figures(simulation, { traffic: 'log', domain: 'replay' })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

describe.each(TRACES)('the figures of %s', (file) => {
  const rows = rowsOfTrace(file)
  const key = keyOfTrace(file)
  const limits = `  - { name: client, key: [${key}], limit: 4/minute, algorithm: fixed-window }
  - { name: dark, key: [], limit: 60/minute, algorithm: fixed-window, mode: shadow }\n`

  it('are those of counting by hand', async () => {
    const figures = await figuresOf(sourcesOf([tracePath(file)]), limits)
    const { timeline, simulation, denied } = figures
    const counts = new Map<string, Map<number, number>>()
    for (const { ms, key: name } of rows) {
      const windows = counts.get(name) ?? new Map<number, number>()
      counts.set(name, windows)
      const window = Math.floor(ms / 60_000)
      windows.set(window, (windows.get(window) ?? 0) + 1)
    }
    const bins = new Map<number, number>()
    for (const { ms } of rows) {
      const bin = Math.floor((ms - timeline.start) / timeline.width)
      bins.set(bin, (bins.get(bin) ?? 0) + 1)
    }
    expect(timeline.requests).toEqual(timeline.requests.map((_, bin) => bins.get(bin) ?? 0))
    expect(sum(timeline.requests)).toBe(rows.length)
    expect([figures.first, figures.last]).toEqual([rows[0]!.ms, rows.at(-1)!.ms])
    const [client, dark] = figures.limits
    const [policy] = simulation.policies
    expect(sum(timeline.denied)).toBe(denied)
    expect(denied).toBe(policy!.denied)
    expect(client!.keys).toBe(counts.size)
    const peaks = [...counts.values()].map((windows) => Math.max(...windows.values()))
    expect(client!.keysDenied).toBe(peaks.filter((peak) => peak > 4).length)
    for (const { from, to, keys, isOver } of client!.quotas[0]!.rates!) {
      expect(keys).toBe(peaks.filter((peak) => peak >= from && peak <= to).length)
      expect(isOver).toBe(from > 4)
    }
    expect(sum(client!.waits.map((wait) => wait.denied))).toBe(policy!.denied)
    expect(
      client!.top
        .slice(0, 10)
        .filter((each) => each.denied > 0)
        .map((each) => [each.key, each.denied]),
    ).toEqual(policy!.top.map((each) => [each.key, each.denied]))
    for (const each of client!.top) {
      expect(each.isWhole).toBe(true)
      expect(sum(each.series.requests)).toBe(each.requests)
      expect(sum(each.series.denied)).toBe(each.denied)
      expect(each.series.requests).toHaveLength(timeline.requests.length)
    }
    expect(dark!.quotas[0]).toMatchObject({ role: 'shadow', limit: 60, periodMs: 60_000 })
    expect(sum(timeline.overOnly)).toBe(figures.overOnly)
  })
})

describe('the figures of a report', () => {
  it('are of bounded size, however long the log is and however many keys it has', async () => {
    const lines = ['t_ms,key']
    for (let i = 0; i < 10_000; i++) lines.push(`${i * 86_400_000},k${i % 5_000}`)
    const limits = Array.from(
      { length: 12 },
      (_, i) => `  - { name: l${i}, key: [user], limit: ${i + 1}/day }\n`,
    )
    const figures = await figuresOf([sourceOf(lines.join('\n'))], limits.join(''))
    expect(figures.timeline.requests.length).toBeLessThanOrEqual(MOST_BINS)
    expect(figures.limits.filter(({ top }) => top.length > 0)).toHaveLength(8)
    expect(JSON.stringify(figures).length).toBeLessThan(600_000)
  })

  it('has how full each key’s limit was, and the waits that were announced', async () => {
    const rows = 't_ms,key\n0,a\n0,a\n0,a\n0,a\n0,a\n0,b\n5000,a\n'
    const figures = await figuresOf(
      [sourceOf(rows)],
      '  - { name: one, key: [user], limit: 4/minute, algorithm: fixed-window }\n',
    )
    const [a, b] = figures.limits[0]!.top
    expect([a!.key, a!.fullness, a!.series.denied]).toEqual(['a', [100, 0, 0, 0, 0, 100], [1, 0, 0, 0, 0, 1]])
    expect([b!.key, b!.fullness]).toEqual(['b', [25, 0, 0, 0, 0, 0]])
    expect(figures.limits[0]!.waits.filter(({ denied }) => denied > 0)).toEqual([{ toMs: 60_000, denied: 2 }])
  })

  it('shows no quota of what refuses requests without a key', async () => {
    const limits = '  - { name: one, key: [user], limit: 4/minute, on_missing_key: deny }\n'
    const figures = await figuresOf([sourceOf('t_ms,user\n0,a\n1,\n2,\n')], limits)
    expect(figures.limits[0]).toMatchObject({ quotas: [{ limit: 4, requests: 1 }], keys: 2, keysDenied: 1 })
    const without = await figuresOf([sourceOf('t_ms,user\n1,\n')], limits)
    expect(without).toMatchObject({ denied: 1, limits: [{ quotas: [], keysDenied: 1 }] })
  })

  it('of a log without requests are empty', async () => {
    const figures = await figuresOf(
      [sourceOf('t_ms,key\n')],
      '  - { name: one, key: [user], limit: 4/minute }\n',
    )
    expect(figures).toMatchObject({ first: null, denied: 0, timeline: { requests: [] } })
  })
})

describe('the records of keys', () => {
  const [rule] = rulesOf('  - { name: one, key: [user], limit: 4/minute }\n')
    .rules.domains.get('replay')!
    .limits.flatMap(({ rules }) => rules)

  it('let those go that count least, where there are too many', () => {
    const quota = new RateTally(rule!)
    const records = new KeyRecords({ keys: 100, entries: 1_000 })
    for (let i = 0; i < 1_000; i++) {
      records.add('hit', quota, i, i, 1, 1, 100)
      records.add(`other${i}`, quota, i, i, 1, 0, 25)
    }
    expect(records.isExact).toBe(false)
    expect(records.keys).toBe(1_001)
    const [first] = records.end(3, { from: 0, count: 1_000 })
    expect([first![0], first![1].denied]).toEqual(['hit', 1_000])
    expect(sum(quota.report().rates!.map(({ keys }) => keys))).toBe(1_001)
  })
})
