import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const library = fileURLToPath(new URL('../dist/index.js', import.meta.url))
/** A young generation that holds a block of decisions, so that nothing is collected while they are counted. */
const HEAP = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128']
/** The optimizer works in this thread as well: it does the same in every run, on any machine. */
const ONE_THREAD = '--single-threaded'
/** Without its optimizer V8 allocates what the code says, figures of the work as well. */
const NO_OPTIMIZER = '--no-opt'
/** Other versions optimize in other ways. */
const isMeasured = process.versions.node.startsWith('20.')
/** Less than an object with one field has. */
const SLACK = 20

const admits = (algorithm: string, limits: number) =>
  Array.from({ length: limits }, () => ({
    algorithm,
    limit: 1_000_000,
    period: algorithm === 'sliding-window-log' ? '1h' : '1m',
  }))
const denies = (algorithm: string) => [{ algorithm, limit: 5, period: '1h' }]

/** Bytes that one decision allocates: the least of several blocks, since what V8 itself keeps is in some. */
function bytesOf(call: string, policies: readonly object[], flag: string): number {
  const program = `
    const { createLimiter, MemoryStore } = await import(${JSON.stringify(library)})
    const policies = ${JSON.stringify(Object.fromEntries(policies.map((policy, i) => [`p${i}`, policy])))}
    // By the system's clock the machine's speed would decide what is allocated: how many entries of a log share an
    // instant, and when a level is full again.
    let decisions = 0
    const clock = { now: () => 1_800_000_000_000_000 + Math.floor(decisions++ / 8) }
    const limiter = createLimiter({ policies, store: new MemoryStore({ clock }) })
    const decide = (count) => {
      for (let i = 0; i < count; i++) limiter.${call}('user:7')
    }
    decide(100_000)
    let least = Infinity
    for (let block = 0; block < 8; block++) {
      gc()
      const before = process.memoryUsage().heapUsed
      decide(10_000)
      least = Math.min(least, (process.memoryUsage().heapUsed - before) / 10_000)
    }
    console.log(least)`
  return Number(execFileSync(process.execPath, [...HEAP, flag, '--input-type=module', '-e', program]))
}

describe('what a decision in process allocates', () => {
  it.each([
    ['check', 1, 1_300],
    ['allow', 1, 900],
    ['check', 2, 2_250],
    ['check', 3, 3_100],
  ])('%s of %i, before it is optimized: at most %i bytes', (call, limits, most) => {
    const bytes = bytesOf(call, admits('gcra', limits), NO_OPTIMIZER)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThanOrEqual(most)
  })

  // One object more for a decision fails: then make do without it, or write down what it is worth. Less should be
  // written down too, so that it stays.
  it.runIf(isMeasured).each([
    ['check', 1, 234],
    ['check', 2, 380],
    ['check', 3, 432],
    ['allow', 1, 16],
    ['allow', 2, 16],
    ['allow', 3, 16],
    ['peek', 1, 172],
    ['peek', 2, 316],
    ['peek', 3, 417],
  ])('%s of %i, as V8 optimizes it: %i bytes', (call, limits, bytes) => {
    expect(bytesOf(call, admits('gcra', limits), ONE_THREAD)).toBeLessThan(bytes + SLACK)
  })

  it.runIf(isMeasured).each([
    ['gcra', 234, 16, 284],
    ['token-bucket', 234, 16, 284],
    ['leaky-bucket', 498, 160, 285],
    ['fixed-window', 241, 16, 292],
    ['sliding-window-counter', 241, 16, 308],
    ['sliding-window-log', 358, 146, 308],
  ])(
    '%s, as V8 optimizes it: %i bytes for check, %i for allow; denied %i and at most 64',
    (algorithm, check, allow, denied) => {
      expect(bytesOf('check', admits(algorithm, 1), ONE_THREAD)).toBeLessThan(check + SLACK)
      expect(bytesOf('allow', admits(algorithm, 1), ONE_THREAD)).toBeLessThan(allow + SLACK)
      expect(bytesOf('check', denies(algorithm), ONE_THREAD)).toBeLessThan(denied + SLACK)
      expect(bytesOf('allow', denies(algorithm), ONE_THREAD)).toBeLessThan(64 + SLACK)
    },
  )
})
