import { describe, expect, it } from 'vitest'
import { Backoff, spreadWait } from './backoff.ts'
import { seededRandom } from './fake-time.test-support.ts'

const CASES = 100_000

describe('Acceptance 4.4: a wait without a hint', () => {
  it('is spread evenly: of 1,000 who are refused at one instant, a fifth comes in each 100 ms', () => {
    const random = seededRandom(1)
    const waits = Array.from({ length: 1_000 }, () => new Backoff({}, random).next(undefined))
    for (let from = 0; from < 500; from += 100) {
      const share = waits.filter((wait) => wait >= from && wait < from + 100).length / waits.length
      expect(share).toBeGreaterThan(0.16)
      expect(share).toBeLessThan(0.24)
    }
    expect(waits.every((wait) => wait < 500)).toBe(true)
    expect(waits.filter((wait) => wait < 1).length).toBeLessThan(10)
  })

  it('is at most the base, doubled with each retry, up to the cap', () => {
    const waits = new Backoff({}, () => 1)
    const most = Array.from({ length: 8 }, () => waits.next(undefined))
    expect(most).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000])
    const own = new Backoff({ baseMs: 10, capMs: 25 }, () => 1)
    expect([own.next(undefined), own.next(undefined), own.next(undefined)]).toEqual([10, 20, 25])
  })

  it('is, decorrelated, between the base and three times the last', () => {
    const random = seededRandom(2)
    for (let run = 0; run < 1_000; run++) {
      const waits = new Backoff({ backoff: 'decorrelated' }, random)
      let last = 500
      for (let retry = 0; retry < 10; retry++) {
        const wait = waits.next(undefined)
        if (wait < 500 || wait > Math.min(20_000, 3 * last)) expect.fail(`${wait} ms after ${last} ms`)
        last = wait
      }
    }
  })
})

describe('Acceptance 4.5: a wait with a hint', () => {
  it.each(['full', 'decorrelated'] as const)(
    '%s: is never shorter than the hint, and never the same',
    (backoff) => {
      const random = seededRandom(3)
      const firsts = new Set<number>()
      for (let run = 0; run < CASES; run++) {
        const waits = new Backoff({ backoff }, random)
        const hint = random() < 0.1 ? 0 : random() * 10 ** Math.floor(random() * 10)
        const first = waits.next(hint)
        expect(first >= hint && first <= hint * 1.1 + 1e-6).toBe(true)
        expect(waits.next(hint) >= hint).toBe(true)
        if (hint > 0) firsts.add(first / hint)
      }
      expect(firsts.size).toBeGreaterThan(CASES * 0.8)
    },
  )

  it('Acceptance 4.3: of 2 s is up to 2.2 s, of 0 is none', () => {
    expect(new Backoff({}, () => 0).next(2_000)).toBe(2_000)
    expect(new Backoff({}, () => 1).next(2_000)).toBe(2_200)
    expect(new Backoff({}, () => 1).next(0)).toBe(0)
  })

  it('is longer by a wait without a hint from the second refusal on', () => {
    const waits = new Backoff({}, () => 1)
    expect([waits.next(2_000), waits.next(2_000), waits.next(2_000)]).toEqual([2_200, 3_200, 4_200])
  })

  it('of a pause is spread over a tenth of it', () => {
    expect([spreadWait(500, 2_000, () => 0), spreadWait(500, 2_000, () => 1)]).toEqual([500, 700])
  })
})
