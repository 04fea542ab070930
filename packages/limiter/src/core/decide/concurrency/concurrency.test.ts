import { algorithmSuite, concurrencyLaw, policiesOf, subjectOf } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { planOf } from '../algorithms.ts'

algorithmSuite(
  { describe, it },
  { name: 'concurrency', policies: policiesOf('concurrency'), law: concurrencyLaw },
)

const plan = planOf({ algorithm: 'concurrency', limit: 3, period: '10s' })

describe('concurrency', () => {
  it('admits up to the limit at once, and again as soon as a lease is given back', () => {
    const subject = subjectOf(plan)
    expect([1, 2, 3, 4].map((lease) => subject.decide(0, 1, lease).remaining)).toEqual([2, 1, 0, 0])
    expect(subject.decide(1_000_000, 1, 4)).toMatchObject({ allowed: false, retryAfterMs: 9_000 })
    subject.settle(1_000_000, -1, 0, 2)
    expect(subject.decide(1_000_000, 1, 4)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('gives a lease back once, and nothing for one that it never gave (FB-042)', () => {
    const subject = subjectOf(plan)
    for (const lease of [1, 2, 3]) subject.decide(0, 1, lease)
    for (const lease of [2, 2, 2, 99]) subject.settle(0, -1, 0, lease)
    expect(subject.decide(0, 0, 4).remaining).toBe(1)
  })

  it('ends a lease whose holder is gone when its time to live is over', () => {
    const subject = subjectOf(plan)
    subject.decide(0, 1, 1)
    subject.decide(4_000_000, 2, 2)
    expect(subject.decide(9_999_999, 1, 3)).toMatchObject({ allowed: false, retryAfterMs: 0.001 })
    expect(subject.decide(10_000_000, 1, 3)).toMatchObject({ allowed: true, remaining: 0 })
    subject.settle(10_000_000, -1, 0, 1)
    expect(subject.decide(10_000_000, 0, 4)).toMatchObject({ remaining: 0, moreAfterMs: 4_000 })
  })

  it('waits for as many leases as a heavy request needs', () => {
    const subject = subjectOf(plan)
    for (const [lease, at] of [
      [1, 0],
      [2, 1],
      [3, 2],
    ] as const)
      subject.decide(at * 1_000_000, 1, lease)
    const waits = [1, 2, 3, 4].map((cost) => subject.decide(2_000_000, cost, 9).retryAfterMs)
    expect(waits).toEqual([8_000, 9_000, 10_000, null])
  })

  it('keeps no room for leases that came and went behind one that stays', () => {
    const subject = subjectOf(plan)
    subject.decide(0, 1, 1)
    for (let lease = 2; lease < 1_000; lease++) {
      expect(subject.decide(lease, 2, lease).allowed).toBe(true)
      subject.settle(lease, -2, lease, lease)
    }
    expect(subject.cells.length).toBeLessThan(20)
  })
})
