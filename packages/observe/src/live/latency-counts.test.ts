import { expect, test } from 'vitest'
import { LatencyCounts } from './latency-counts.ts'

test('quantiles are at most 4.5 % above the true ones, and never below, however times are spread', () => {
  for (const spread of [(x: number) => x, (x: number) => x ** 4 * 900, (x: number) => 0.002 + x * 0.01]) {
    const counts = new LatencyCounts()
    const times = Array.from({ length: 5_000 }, (_, i) => spread(((i * 7_919) % 5_000) / 5_000 + 0.001))
    for (const ms of times) counts.add(ms)
    const sorted = times.sort((a, b) => a - b)
    const taken = counts.take()!
    for (const [name, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const exact = sorted[Math.ceil(share * sorted.length) - 1]!
      expect(taken[name] / exact).toBeGreaterThan(0.99) // three digits are shown
      expect(taken[name] / exact).toBeLessThan(1.05)
    }
  }
})

test('each second begins anew, and one without answers has none', () => {
  const counts = new LatencyCounts()
  expect(counts.take()).toBeNull()
  for (const ms of [0, 1e-9, 1e9]) counts.add(ms)
  expect(counts.take()).toMatchObject({ p50: 0.001, p99: expect.any(Number) })
  expect(counts.take()).toBeNull()
})
