import { describe, expect, it } from 'vitest'
import { AdaptiveThrottle } from './adaptive-throttle.ts'
import { seededRandom } from './fake-time.test-support.ts'

/** Calls at an even pace, against a backend that accepts so many in each second. */
function trial(seed: number, latencyMs = 20) {
  const throttle = new AdaptiveThrottle({}, seededRandom(seed), 0)
  let now = 0
  const answers: { sentAt: number; at: number; accepted: boolean }[] = []
  return {
    throttle,
    /** @returns calls that were sent, and of those accepted */
    run(seconds: number, offered: number, accepts: number): { sent: number; accepted: number } {
      const total = { sent: 0, accepted: 0 }
      for (let second = 0; second < seconds; second++) {
        let left = accepts
        for (let call = 0; call < offered; call++) {
          now += 1_000 / offered
          while (answers.length > 0 && answers[0]!.at <= now) {
            const { sentAt, at, accepted } = answers.shift()!
            throttle.note(sentAt, accepted, at)
          }
          if (!throttle.admit(now)) continue
          const accepted = left-- > 0
          answers.push({ sentAt: now, at: now + latencyMs, accepted })
          total.sent++
          if (accepted) total.accepted++
        }
      }
      return total
    },
  }
}

describe('Acceptance 4.7: adaptive throttling', () => {
  it.each([1, 2, 3, 4, 5])('sends twice what is accepted, once its window has filled (seed %i)', (seed) => {
    const { run } = trial(seed)
    run(120, 100, 10)
    const { sent, accepted } = run(60, 100, 10)
    expect(sent / 60).toBeGreaterThan(18)
    expect(sent / 60).toBeLessThan(22)
    expect(sent / accepted).toBeLessThanOrEqual(2.2)
  })

  it.each([1, 2, 3, 4, 5])('is back at the full rate within 10 s of the backend (seed %i)', (seed) => {
    const { run, throttle } = trial(seed)
    run(180, 100, 10)
    run(10, 100, 100)
    expect(throttle.probability(190_000)).toBe(0)
    expect(run(10, 100, 100)).toEqual({ sent: 1_000, accepted: 1_000 })
  })

  it('still asks a backend that accepts nothing, once a second, and is back within 10 s of it', () => {
    const { run } = trial(6)
    run(300, 100, 0)
    const { sent } = run(60, 100, 0)
    expect(sent).toBeGreaterThanOrEqual(59)
    expect(sent).toBeLessThan(70)
    run(10, 100, 100)
    expect(run(10, 100, 100).sent).toBe(1_000)
  })

  it('refuses nothing while few calls are made, and while at least half are accepted', () => {
    const few = trial(7)
    expect(few.run(99, 1, 0).sent).toBe(99)
    const half = trial(8)
    expect(half.run(600, 100, 60).sent).toBe(60_000)
  })

  it('counts calls when they are sent: a backend that does not answer is asked less and less', () => {
    const { run } = trial(9, 3_600_000)
    expect(run(20, 100, 100).sent).toBeLessThan(1_300)
    expect(run(10, 100, 100).sent).toBeLessThan(30)
  })

  it('lets a program start many calls at once', () => {
    const throttle = new AdaptiveThrottle({}, () => 0, 0)
    for (let call = 0; call < 10_000; call++) expect(throttle.admit(0)).toBe(true)
  })

  it('does not count a call that its caller left', () => {
    const { throttle } = trial(11)
    for (let call = 0; call < 1_000; call++) {
      throttle.admit(call)
      throttle.note(call, undefined, call)
    }
    expect(throttle.probability(60_000)).toBe(0)
  })

  it('does not take a pause between refusals for an end of them', () => {
    const { run, throttle } = trial(10)
    for (let round = 0; round < 20; round++) {
      run(5, 100, 0)
      run(1, 100, 60)
    }
    expect(throttle.probability(120_000)).toBeGreaterThan(0.5)
  })

  it('forgets what is older than two minutes', () => {
    const throttle = new AdaptiveThrottle({}, () => 1, 0)
    for (let call = 0; call < 1_000; call++) throttle.admit(0)
    expect([throttle.probability(10_000), throttle.probability(115_000)].every((value) => value > 0.9)).toBe(
      true,
    )
    expect(throttle.probability(125_000)).toBe(0)
  })
})
