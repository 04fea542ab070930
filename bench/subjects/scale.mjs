// How the cost of a decision grows in process: nanoseconds of CPU for a decision on one key.
import { nsOf } from '../cpu.mjs'

const POLICIES = [1, 2, 3, 5, 10, 20, 50]
const ENTRIES = [10, 1_000, 10_000, 100_000, 1_000_000]
const SLOTS = [10, 1_000, 10_000, 100_000]
const named = (counts, what) => counts.map((count) => `${count.toLocaleString('en')} ${what}`)

export const scenarios = {
  policies: { unit: 'ns', candidates: named(POLICIES, 'policies') },
  'entries of a log': { unit: 'ns', candidates: named(ENTRIES, 'entries') },
  'slots held': { unit: 'ns', candidates: named(SLOTS, 'slots') },
}

export const tables = [
  { head: 'check', columns: [['ns', 'policies']] },
  { head: 'check, sliding-window-log that is full', columns: [['ns', 'entries of a log']] },
  { head: 'reserve and cancel, concurrency', columns: [['ns', 'slots held']] },
]

export async function run(scenario, candidate) {
  const { createLimiter } = await import('@sluice/limiter')
  const count = Number(/[\d,]+/.exec(candidate)[0].replaceAll(',', ''))
  const limiterOf = (policies) => createLimiter({ policies })
  if (scenario === 'policies') {
    const policyOf = (i) => ({ algorithm: 'fixed-window', limit: 1_000_000_000, period: `${60 + i}m` })
    const limiter = limiterOf(
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, policyOf(i)])),
    )
    return { ns: nsOf(() => limiter.check('ada')) }
  }
  if (scenario === 'entries of a log') {
    const limiter = limiterOf({ p: { algorithm: 'sliding-window-log', limit: count, period: '1h' } })
    for (let i = 0; i < count; i++) limiter.check('ada')
    return { ns: nsOf(() => limiter.check('ada')) }
  }
  const limiter = limiterOf({ p: { algorithm: 'concurrency', limit: 1_000_000, period: '1h' } })
  for (let i = 0; i < count; i++) limiter.reserve('ada')
  return { ns: nsOf(() => limiter.reserve('ada').cancel()) }
}
