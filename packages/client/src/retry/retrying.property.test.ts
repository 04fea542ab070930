import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FakeTime, seededRandom } from './fake-time.test-support.ts'
import { retrying } from './retrying.ts'
import { Throttled } from './throttled.ts'

const RUNS = Number(process.env.SLUICE_RUNS ?? 2_000)
const MAX_WAIT_MS = 5_000

const TEXTS = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '2.5',
    '-5',
    'NaN',
    '1e99',
    '6',
    '9'.repeat(40),
    'Sat, 29 Aug 2026 12:00:07 GMT',
    '6m0s',
  ),
  fc.constantFrom('"a";r=0;t=3', 'limit=1, remaining=0, reset=4', '1767225604', '2026-01-01T00:00:02Z'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => text.replaceAll(/[^ -~]/g, '')),
)
const NAMES = fc.constantFrom(
  ...[
    'retry-after',
    'retry-after-ms',
    'ratelimit',
    'ratelimit-reset',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
  ],
  ...[
    'x-ratelimit-reset-tokens',
    'x-ratelimit-remaining-tokens',
    'anthropic-ratelimit-requests-reset',
    'date',
  ],
)
const ANSWERS = fc.record({
  status: fc.constantFrom(200, 403, 429, 500, 503),
  headers: fc.dictionary(NAMES, TEXTS, { maxKeys: 4 }),
})

it('Acceptance 4.3: no answer makes a call wait longer than it may, come early, or be lost', async () => {
  const cases = fc.record({
    answers: fc.array(ANSWERS, { minLength: 1, maxLength: 6 }),
    calls: fc.integer({ min: 1, max: 5 }),
    seed: fc.nat(),
  })
  const property = fc.asyncProperty(cases, async ({ answers, calls, seed }) => {
    const time = new FakeTime()
    const { clock, timers } = time
    const longest: number[] = []
    let [count, open, askedAt, notBefore] = [0, 0, 0, 0]
    const early: number[] = []
    const server = async (): Promise<Response> => {
      // A call of the same instant was sent before the answer was there.
      if (time.nowMs > askedAt && time.nowMs < notBefore) early.push(time.nowMs)
      const { status, headers } = answers[count++ % answers.length]!
      const seconds = /^\d+(\.\d+)?$/.test(headers['retry-after']?.trim() ?? '')
        ? Number(headers['retry-after'])
        : 0
      const asked = status !== 200 && !('retry-after-ms' in headers) && seconds * 1_000 <= MAX_WAIT_MS
      if (asked && time.nowMs + seconds * 1_000 > notBefore)
        [askedAt, notBefore] = [time.nowMs, time.nowMs + seconds * 1_000]
      return new Response(null, { status, headers })
    }
    const noted = (ms: number): number => {
      longest.push(ms)
      return ms
    }
    const waits = {
      ...timers,
      setTimeout: (go: () => void, ms: number) => timers.setTimeout(go, noted(ms)),
    }
    const fetch = retrying(server, {
      clock,
      timers: waits,
      random: seededRandom(seed),
      maxWaitMs: MAX_WAIT_MS,
    })
    for (let i = 0; i < calls; i++) {
      open++
      fetch('https://api.example.com')
        .catch((error) => expect(error).toBeInstanceOf(Throttled))
        .finally(() => open--)
      await time.run(time.nowMs + 100)
    }
    await time.run(100_000)
    expect([open, time.waiting, early]).toEqual([0, 0, []])
    expect(Math.max(0, ...longest)).toBeLessThanOrEqual(MAX_WAIT_MS)
  })
  await fc.assert(property, { numRuns: RUNS })
})
