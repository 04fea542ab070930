import { createLimiter, MemoryStore } from '@sluice/limiter'
import { type AlgorithmName, algorithms, type Policy, planOf } from '@sluice/limiter/algorithms'
import { FakeClock } from '@sluice/limiter/testing'
import { describe, expect, it, test } from 'vitest'
import { type AdmissionBound, boundOf, statedBound } from './admission-bound.ts'
import { AdmissionCount, type DecidedBetween } from './admission-count.ts'
import { seededRandom } from './keys.ts'

const LIMIT = 8
const PERIOD_MS = 100

const policies: readonly (readonly [string, Policy])[] = [
  ...(Object.keys(algorithms) as AlgorithmName[])
    .filter((algorithm) => algorithm !== 'concurrency')
    .map((algorithm) => [algorithm, { algorithm, limit: LIMIT, period: PERIOD_MS }] as const),
  ['token-bucket with a burst', { algorithm: 'token-bucket', limit: LIMIT, period: PERIOD_MS, burst: 20 }],
  [
    'token-bucket by intervals',
    { algorithm: 'token-bucket', limit: LIMIT, period: PERIOD_MS, refill: 'interval' },
  ],
  [
    'a counter that rounds up',
    { algorithm: 'sliding-window-counter', limit: LIMIT, period: PERIOD_MS, rounding: 'up' },
  ],
]

interface Decided extends DecidedBetween {
  readonly allowed: boolean
}

/** What a client sees of a real limiter: each decision lies somewhere between its request and its answer. */
async function traffic(policy: Policy, seed: number, gapUs = 20_000): Promise<Decided[]> {
  const random = seededRandom(seed)
  const clock = new FakeClock(0)
  const limiter = createLimiter({ policies: { each: policy }, store: new MemoryStore({ clock }) })
  const decided: Decided[] = []
  let at = 1_000_000
  for (let i = 0; i < 400; i++) {
    at += random() < 0.1 ? Math.floor(random() * 2 * PERIOD_MS * 1_000) : Math.floor(random() * gapUs)
    clock.set(at)
    const { allowed } = await limiter.check('ada')
    decided.push({
      allowed,
      sent: (at - random() * 9_000) / 1_000,
      received: (at + random() * 9_000) / 1_000,
    })
  }
  return decided
}

/** As a client does: requests count from when they are sent, and answers as they come. */
function counted(decided: readonly Decided[], bound: AdmissionBound): AdmissionCount {
  const count = new AdmissionCount(bound)
  const events = decided.flatMap((each) => [
    { at: each.sent, run: () => count.asking() },
    { at: each.received, run: () => (each.allowed ? count.admitted(each) : count.refused(each)) },
  ])
  for (const { run } of events.sort((a, b) => a.at - b.at)) run()
  return count
}

describe('a strict count', () => {
  describe.each(policies)('of %s', (_name, policy) => {
    const bound = boundOf(planOf(policy))!

    test.each([1, 2, 3, 4, 5])('finds nothing wrong where nothing is wrong (%i)', async (seed) => {
      const { overAtLeast, wrongRefusals } = counted(await traffic(policy, seed), bound)
      expect({ overAtLeast, wrongRefusals }).toEqual({ overAtLeast: 0, wrongRefusals: 0 })
    })

    it('finds what a limit three times as large admits', async () => {
      const { burst = LIMIT } = policy as { burst?: number }
      const larger = { ...policy, limit: 3 * LIMIT, ...('burst' in policy && { burst: 3 * burst }) } as Policy
      const { overAtLeast, overAtMost } = counted(await traffic(larger, 1, 3_000), bound)
      expect(overAtLeast).toBeGreaterThan(0)
      expect(overAtMost).toBeGreaterThanOrEqual(overAtLeast)
    })

    // Of others a refusal with room left is no fault.
    if (!bound.refusesOnlyWhenFull) return
    it('finds the refusals of half the limit', async () => {
      const { burst = LIMIT } = policy as { burst?: number }
      const smaller = {
        ...policy,
        limit: LIMIT / 2,
        ...('burst' in policy && { burst: burst / 2 }),
      } as Policy
      expect(counted(await traffic(smaller, 1), bound).wrongRefusals).toBeGreaterThan(0)
    })
  })

  it('agrees with a count of every window, where the instants are known', () => {
    const random = seededRandom(11)
    for (let run = 0; run < 50; run++) {
      const count = new AdmissionCount(statedBound(3, PERIOD_MS))
      let at = 0
      const all = Array.from({ length: 60 }, () => (at += random() * 40))
      for (const sent of all) {
        count.asking()
        count.admitted({ sent, received: sent })
      }
      const most = Math.max(
        ...all.map((from) => all.filter((each) => each >= from && each < from + 99.99).length),
      )
      expect(count.overAtLeast).toBe(Math.max(0, most - 3))
      expect(count.overAtMost).toBe(count.overAtLeast)
    }
  })

  it('forgets what no window reaches, and counts on', () => {
    const count = new AdmissionCount(statedBound(10, PERIOD_MS, 10))
    for (let i = 0; i < 50_000; i++) {
      count.asking()
      count.admitted({ sent: i * 10, received: i * 10 + 1 })
    }
    expect(count.overAtLeast).toBe(0)
    for (let i = 0; i < 15; i++) {
      count.asking()
      count.admitted({ sent: 500_000, received: 500_001 })
    }
    expect(count.overAtLeast).toBeGreaterThan(0)
  })

  it('does not blame a limiter for what may have been charged', () => {
    const bound = boundOf(planOf({ algorithm: 'sliding-window-log', limit: 2, period: PERIOD_MS }))!
    const count = new AdmissionCount(bound)
    for (let i = 0; i < 3; i++) count.asking()
    count.failed({ sent: 0, received: 5 })
    count.failed({ sent: 0, received: 5 })
    expect(count.refused({ sent: 6, received: 7 })).toBe(false)
    count.asking()
    expect(count.refused({ sent: 200, received: 201 })).toBe(true)
  })
})

test('slots that requests hold have no bound that a client sees', () => {
  expect(boundOf(planOf({ algorithm: 'concurrency', limit: 3, period: '1m' }))).toBeUndefined()
})
