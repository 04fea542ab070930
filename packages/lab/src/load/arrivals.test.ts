import { describe, expect, it } from 'vitest'
import { arrivalsOf, type LoadShape } from './arrivals.ts'
import { seededRandom, zipfRanks } from './keys.ts'

const instants = (shape: LoadShape, durationMs: number): number[] =>
  [...arrivalsOf(shape, durationMs, seededRandom(1))].map(({ at }) => at)
const within = (all: readonly number[], from: number, to: number): number =>
  all.filter((at) => at >= from && at < to).length

describe('Acceptance 14.3: arrivals', () => {
  it('come evenly at a constant rate', () => {
    expect(instants({ kind: 'constant', rate: 4 }, 1_000)).toEqual([0, 250, 500, 750])
  })

  it('come ever faster in a ramp, as many as the area under the rate', () => {
    const all = instants({ kind: 'ramp', from: 10, rate: 110 }, 10_000)
    expect(all.length).toBe(600)
    expect(within(all, 0, 1_000)).toBe(16) // with that of the first instant
    expect(within(all, 9_000, 10_000)).toBe(105)
    expect(instants({ kind: 'ramp', from: 100, rate: 0.01 }, 1_000).at(-1)).toBeLessThan(1_000)
    expect(instants({ kind: 'ramp', from: 5, rate: 5 }, 1_000).length).toBe(5)
  })

  it('come together in a burst, over a constant rate', () => {
    const all = instants({ kind: 'burst', rate: 10, size: 5, everyMs: 500 }, 1_000)
    expect(all).toEqual(all.toSorted((a, b) => a - b))
    expect(all.length).toBe(20)
    expect(all.filter((at) => at === 500).length).toBe(6)
  })

  it('come all at once as a herd, and not between', () => {
    const all = instants({ kind: 'herd', rate: 20, everyMs: 500 }, 1_000)
    expect(new Set(all)).toEqual(new Set([0, 500]))
    expect(all.length).toBe(20)
  })

  it('come independently of each other, as Poisson has it', () => {
    const all = instants({ kind: 'poisson', rate: 1_000 }, 20_000)
    expect(all.length).toBeGreaterThan(19_500)
    expect(all.length).toBeLessThan(20_500)
    const counts = Array.from({ length: 200 }, (_, i) => within(all, i * 100, (i + 1) * 100))
    const mean = counts.reduce((a, b) => a + b) / 200
    const variance = counts.reduce((sum, each) => sum + (each - mean) ** 2, 0) / 200
    expect(variance / mean).toBeGreaterThan(0.7) // 0 were evenly, 1 is Poisson
    expect(variance / mean).toBeLessThan(1.4)
  })
})

describe('keys', () => {
  it('are asked as often as Zipf has it', () => {
    const rank = zipfRanks(100, 1, seededRandom(7))
    const counts = new Array<number>(100).fill(0)
    for (let i = 0; i < 50_000; i++) counts[rank()]!++
    expect(counts[0]! / counts[9]!).toBeGreaterThan(8.5)
    expect(counts[0]! / counts[9]!).toBeLessThan(11.5)
    expect(counts.every((count) => count > 0)).toBe(true)
  })

  it('are asked alike with an exponent of 0, and one alone always', () => {
    const rank = zipfRanks(10, 0, seededRandom(7))
    const counts = new Array<number>(10).fill(0)
    for (let i = 0; i < 10_000; i++) counts[rank()]!++
    expect(Math.min(...counts)).toBeGreaterThan(850)
    expect(zipfRanks(1, 1, () => 0.999_999)()).toBe(0)
  })

  it('are the same again with the same seed', () => {
    const of = (seed: number) => Array.from({ length: 5 }, seededRandom(seed))
    expect(of(3)).toEqual(of(3))
    expect(of(3)).not.toEqual(of(4))
  })
})
