import { describe, expect, it } from 'vitest'
import type { Law } from './algorithm/laws.ts'
import { algorithmSuite, bucketLaw, policiesOf, slidingCounterLaw, slidingLogLaw } from './algorithm.ts'

/** What the suite's tests throw. */
function complaints(name: 'fixed-window' | 'gcra' | 'sliding-window-counter', law: Law): string[] {
  const thrown: string[] = []
  algorithmSuite(
    {
      describe: (_name, body) => body(),
      it(_name, body) {
        try {
          body()
        } catch (error) {
          thrown.push(String((error as Error).cause))
        }
      },
    },
    { name, policies: policiesOf(name), law, runs: 1_000 },
  )
  return thrown
}

describe('the algorithm suite', () => {
  it('finds out an algorithm that keeps another law, and tells the walk', () => {
    const [first, ...others] = complaints('fixed-window', slidingLogLaw)
    expect(first).toMatch(
      /\{"algorithm":"fixed-window",.*in units of \d+ µs\n {2}at \d+ cost \d+: \{"allowed":/,
    )
    expect(others).toHaveLength(2)
  })

  it('finds out a rounding the wrong way', () => {
    expect(complaints('sliding-window-counter', slidingCounterLaw('up'))).toHaveLength(3)
  })

  it('finds out more admitted in an interval than was promised', () => {
    const strict: Law = { ...bucketLaw, most: (plan, interval) => bucketLaw.most(plan, interval) - 1n }
    expect(complaints('gcra', strict)[0]).toMatch(/were admitted within \d+ units, where \d+ may be/)
  })
})
