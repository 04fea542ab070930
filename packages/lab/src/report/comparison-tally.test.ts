import { describe, expect, it } from 'vitest'
import { compareRules } from '../compare/compare.ts'
import { keyOfTrace, rulesOf, TRACES, tracePath } from '../traces.test-support.ts'
import { sourceOf } from '../traffic/reading.test-support.ts'
import { sourcesOf, type TrafficSource } from '../traffic/source.ts'
import { MOST_BINS } from './bins.ts'
import { ChangedKeys } from './changed-keys.ts'
import type { ComparisonFigures } from './comparison-figures.ts'
import { ComparisonTally } from './comparison-tally.ts'

async function figuresOf(
  sources: readonly TrafficSource[],
  old: string,
  proposed: string,
): Promise<ComparisonFigures> {
  const tally = new ComparisonTally()
  const comparison = await compareRules(sources, {
    old: rulesOf(old),
    new: rulesOf(proposed),
    onFates: tally.add,
  })
  return tally.figures(comparison, {
    traffic: 'log',
    domain: 'replay',
    rulebooks: { old: 'a.yaml', new: 'b.yaml' },
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

describe.each(TRACES)('the figures of a comparison on %s', (file) => {
  const key = keyOfTrace(file)
  const old = `  - { name: client, key: [${key}], limit: 4/minute, algorithm: fixed-window }\n`
  const proposed = `  - { name: client, key: [${key}], limit: 3/minute, algorithm: sliding-window-log }
  - { name: dark, key: [], limit: 60/minute, mode: shadow }\n`

  it('add up to those of the comparison, and are placed where it says', async () => {
    const figures = await figuresOf(sourcesOf([tracePath(file)]), old, proposed)
    const { comparison, timeline } = figures
    const { start, width } = timeline
    expect(sum(timeline.requests)).toBe(comparison.requests)
    expect(sum(timeline.deniedByBoth)).toBe(comparison.new.denied - comparison.newlyDenied.requests)
    expect(sum(timeline.deniedByBoth)).toBe(comparison.old.denied - comparison.newlyAdmitted.requests)
    for (const direction of ['newlyDenied', 'newlyAdmitted'] as const) {
      const { requests, first, last, topKeys } = comparison[direction]
      expect(sum(timeline[direction])).toBe(requests)
      if (requests === 0) continue
      const binOf = (iso: string): number => Math.floor((Date.parse(iso) - start) / width)
      expect(timeline[direction].findIndex((count) => count > 0)).toBe(binOf(first!))
      expect(timeline[direction].findLastIndex((count) => count > 0)).toBe(binOf(last!))
      expect(
        figures[direction].map(({ policy, key, requests: times }) => ({ policy, key, requests: sum(times) })),
      ).toEqual(topKeys)
      for (const each of figures[direction]) {
        expect(each.isWhole).toBe(true)
        expect(each.requests).toHaveLength(timeline.requests.length)
      }
    }
    expect(figures.limits.map(({ name }) => name)).toEqual(['client', 'dark'])
    expect(figures.limits[0]).toMatchObject({
      old: [{ limit: 4, algorithm: 'fixed-window' }],
      new: [{ limit: 3, algorithm: 'sliding-window-log' }],
    })
    expect(figures.limits[1]).toMatchObject({ old: [], new: [{ role: 'shadow' }] })
  })
})

describe('the figures of a comparison', () => {
  it('are of bounded size, however long the log is and however many keys it has', async () => {
    const lines = ['t_ms,key']
    for (let i = 0; i < 10_000; i++) lines.push(`${i * 86_400_000},k${i % 5_000}`)
    const rules = (limit: number): string =>
      Array.from({ length: 12 }, (_, i) => `  - { name: l${i}, key: [user], limit: ${limit} }\n`).join('')
    const figures = await figuresOf(
      [sourceOf(lines.join('\n'))],
      rules(9).replaceAll('limit: 9', 'limit: 9/day'),
      rules(0).replaceAll('limit: 0', 'limit: 0/day'),
    )
    expect(figures.comparison.newlyDenied.requests).toBe(10_000)
    expect(figures.timeline.requests.length).toBeLessThanOrEqual(MOST_BINS)
    expect(JSON.stringify(figures).length).toBeLessThan(100_000)
  })

  it('of a log without requests are empty', async () => {
    const rules = '  - { name: one, key: [user], limit: 4/minute }\n'
    const figures = await figuresOf([sourceOf('t_ms,key\n')], rules, rules)
    expect(figures).toMatchObject({ first: null, timeline: { requests: [] }, newlyDenied: [] })
  })
})

describe('the keys that are decided otherwise', () => {
  const hit = { policy: 'one', key: 'hit' }

  it('are let go where there are too many: those with the fewest requests', () => {
    const keys = new ChangedKeys({ keys: 100, entries: 10_000 })
    for (let i = 0; i < 1_000; i++) {
      keys.add('one', 'hit', i)
      keys.add('one', `other${i}`, i)
    }
    const bins = { from: 0, count: 1_000 }
    const [first, gone, late] = keys.report(
      [hit, { ...hit, key: 'other0' }, { ...hit, key: 'other999' }],
      bins,
    )
    expect([first!.isWhole, sum(first!.requests)]).toEqual([true, 1_000])
    expect(gone).toMatchObject({ isWhole: false, requests: [] })
    expect([late!.isWhole, sum(late!.requests)]).toEqual([false, 1])
  })

  it('lose their early bins where these are too many, those with the fewest requests first', () => {
    const keys = new ChangedKeys({ keys: 100, entries: 200 })
    for (let i = 0; i < 150; i++) {
      keys.add('one', 'hit', i)
      if (i < 60) for (const key of ['few', 'other', 'third']) keys.add('one', key, i)
    }
    keys.widen(2)
    const [first, few] = keys.report([hit, { ...hit, key: 'few' }], { from: 0, count: 75 })
    expect([first!.isWhole, sum(first!.requests)]).toEqual([true, 150])
    expect(few!.isWhole).toBe(false)
  })
})
