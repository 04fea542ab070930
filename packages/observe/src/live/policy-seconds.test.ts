import { describe, expect, test } from 'vitest'
import type { LivePolicy } from './live-second.ts'
import { PolicySeconds } from './policy-seconds.ts'

function counts(policy: string, own: Partial<LivePolicy>): LivePolicy {
  const none = { allowed: 0, limited: 0, shadow: 0, deprioritized: 0, degraded: 0 }
  return { domain: 'shop', policy, ...none, fullness: [], ...own }
}

describe('the seconds of policies', () => {
  test('have demand, what was admitted and what was refused; seconds without requests are 0', () => {
    const seconds = new PolicySeconds()
    seconds.add(1_000, [counts('login', { allowed: 3, limited: 7 })])
    seconds.add(2_000, [counts('other', { allowed: 1, shadow: 2, deprioritized: 3, degraded: 4 })])
    seconds.add(3_000, [counts('login', { allowed: 1 })])
    expect(seconds.rows('shop', 'login')).toEqual([
      [1_000, 10, 3, 7],
      [2_000, 0, 0, 0],
      [3_000, 1, 1, 0],
    ])
    expect(seconds.rows('shop', 'other')[1]).toEqual([2_000, 10, 6, 0])
    expect(seconds.rows('shop', 'logn')).toEqual([])
    expect(seconds.spikes()).toMatchObject([
      {
        policy: 'login',
        demand: 11,
        admitted: 4,
        refused: 7,
        peak: { at: 1_000, demand: 10, admitted: 3, refused: 7 },
      },
      { policy: 'other', demand: 10, peak: { at: 2_000, demand: 10, admitted: 6 } },
    ])
  })

  test('are those of the last quarter of an hour', () => {
    const seconds = new PolicySeconds()
    seconds.add(0, [counts('login', { limited: 99 })])
    for (let i = 1; i <= 900; i++)
      seconds.add(i * 1_000, i % 2 === 0 ? [] : [counts('login', { allowed: i })])
    const rows = seconds.rows('shop', 'login')
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([900, [1_000, 1, 1, 0], [900_000, 0, 0, 0]])
    expect(seconds.spikes()).toMatchObject([{ refused: 0, peak: { at: 899_000, demand: 899 } }])
    for (let i = 901; i <= 1_801; i++) seconds.add(i * 1_000, [])
    expect(seconds.spikes()).toEqual([])
  })

  test('are kept for 200 policies, and for another one when one of them has decided nothing in this time', () => {
    const seconds = new PolicySeconds()
    const all = Array.from({ length: 250 }, (_, i) => counts(`p${i}`, { allowed: 1 }))
    for (let i = 0; i < 1_000; i++) seconds.add(i, all)
    expect(seconds.spikes().length).toBe(200)
    expect(seconds.rows('shop', 'p249')).toEqual([])
    for (let i = 0; i < 901; i++) seconds.add(1_000 + i, [])
    seconds.add(2_000, all.slice(-1))
    expect(seconds.rows('shop', 'p249').at(-1)).toEqual([2_000, 1, 1, 0])
    expect(seconds.spikes().map(({ policy }) => policy)).toEqual(['p249'])
  })
})
