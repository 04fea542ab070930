import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const library = fileURLToPath(new URL('../dist/index.js', import.meta.url))
/** A young generation that holds a block of decisions, so that nothing is collected while they are counted. */
const HEAP = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128']
/** The optimizer works in this thread as well, so that it has done its work when it is measured, on any machine. */
const ONE_THREAD = '--single-threaded'
/** Without its optimizer V8 allocates what the code says: in every run the same, about 1,200 bytes for a `check` in Node 20. */
const NO_OPTIMIZER = '--no-opt'

/** Bytes that one decision allocates: the least of several blocks, since the optimizer works whenever it wants. */
function bytesOf(call: string, policies: number, ...flags: readonly string[]): number {
  const program = `
    const { createLimiter } = await import(${JSON.stringify(library)})
    const policy = { algorithm: 'gcra', limit: 1e6, period: '1m' }
    const policies = Object.fromEntries(Array.from({ length: ${policies} }, (_, i) => ['p' + i, policy]))
    const limiter = createLimiter({ policies })
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
  return Number(execFileSync(process.execPath, [...HEAP, ...flags, '--input-type=module', '-e', program]))
}

describe('what a decision in process allocates', () => {
  it.each([
    ['check', 1, 1_300],
    ['allow', 1, 900],
    ['check', 2, 2_250],
    ['check', 3, 3_100],
  ])('%s of %i, before it is optimized: at most %i bytes', (call, policies, most) => {
    const bytes = bytesOf(call, policies, NO_OPTIMIZER)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThanOrEqual(most)
  })

  it.each([
    ['check', 1, 400],
    ['allow', 1, 120],
    ['check', 2, 560],
    ['check', 3, 620],
  ])('%s of %i, as V8 optimizes it: at most %i bytes', (call, policies, most) => {
    expect(bytesOf(call, policies, ONE_THREAD)).toBeLessThanOrEqual(most)
  })
})
