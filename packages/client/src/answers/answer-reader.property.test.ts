import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readAnswerLimits } from './answer-reader.ts'
import { FAMILIES } from './limit-fields.ts'

const RUNS = Number(process.env.SLUICE_RUNS ?? 20_000)

const NAMES = [
  ...new Set(
    FAMILIES.flatMap(({ probes, limits }) => [
      ...probes,
      ...limits.flatMap((fields) =>
        Object.entries(fields).flatMap(([what, names]) => (what === 'name' ? [] : names)),
      ),
    ]),
  ),
  ...['ratelimit', 'ratelimit-policy', 'date', 'age', 'retry-after', 'retry-after-ms'],
  ...['x-ratelimit-retry-after', 'x-github-request-id', 'x-envoy-ratelimited'],
]

const PIECES = [
  ...['"', '\\', ',', ';', '=', ':', '?1', '-', '.', ' ', '\t', '*', '(', '@', '%', '\0', '\r\n', 'é', '/'],
  ...['0', '1', '100', '1.5', '-1', '1e3', '1e99', 'NaN', 'Infinity', '9'.repeat(30), '9'.repeat(400)],
  ...['1700000000', '1700000000000', '6m0s', 'ms', 'h', 'true', '32/40', '2026-08-29T12:00:00Z', '+14:00'],
  ...['Sat, 29 Aug 2026 12:00:07 GMT', 'Fri Dec 31 23:59:59 1999', 'Sat Aug 29 2026 14:00:30 GMT+0200'],
  ...['q', 'r', 't', 'w', 'pk', 'limit', 'remaining', 'reset', '"hour"', ':AP8Q:'],
]
const TEXTS = fc.oneof(
  fc.constantFrom(...PIECES),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary' }),
  fc.double().map(String),
)
const ANSWERS = fc.record({
  status: fc.constantFrom(200, 302, 403, 429, 503),
  headers: fc.dictionary(fc.constantFrom(...NAMES), TEXTS, { maxKeys: 8 }),
})

const isCount = (value: number | undefined): boolean =>
  value === undefined || (Number.isSafeInteger(value) && value >= 0)
const isWait = (value: number | undefined): boolean =>
  value === undefined || (value >= 0 && value <= Number.MAX_SAFE_INTEGER)

it('Acceptance 4.2: no text in headers can make a reader throw, or give a figure that is none', () => {
  const property = fc.property(ANSWERS, fc.integer({ min: 0, max: 4e12 }), (answer, now) => {
    const said = readAnswerLimits(answer, { now })
    if (said === undefined) return
    expect(isWait(said.retryAfterMs)).toBe(true)
    for (const { name, limit, remaining, moreMs, resetMs, windowMs } of said.limits) {
      expect(typeof name).toBe('string')
      expect([limit, remaining].every(isCount)).toBe(true)
      expect([moreMs, resetMs].every(isWait)).toBe(true)
      expect(windowMs === undefined || (windowMs > 0 && Number.isFinite(windowMs))).toBe(true)
    }
  })
  fc.assert(property, { numRuns: RUNS })
})

it('reads texts of any length in a short time', () => {
  for (const piece of PIECES) {
    for (const length of [1_000, 16_384, 100_000]) {
      const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
      for (const name of NAMES) readAnswerLimits({ status: 429, headers: { [name]: text } }, { now: 0 })
    }
  }
})
