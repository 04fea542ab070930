import { describe, expect, it } from 'vitest'
import { simulateTraffic } from '../simulate/simulate-traffic.ts'
import { keyOfTrace, rowsOfTrace, rulesOf, TRACES, tracePath } from '../traces.test-support.ts'
import { sourcesOf } from '../traffic/source.ts'
import { usageOf } from './usage.ts'
import { type UsageDay, UsageTally } from './usage-day.ts'

async function daysOf(usage: ReturnType<typeof usageOf>): Promise<UsageDay[]> {
  const days: UsageDay[] = []
  for await (const day of usage) days.push(day)
  return days
}

describe.each(TRACES)('Acceptance 15.7: the usage in %s', (file) => {
  const by = keyOfTrace(file)

  it('is that of counting by hand, and refused is what a simulation refuses', async () => {
    const rules = rulesOf(
      `  - { name: client, key: [${by}], limit: 4/minute, algorithm: sliding-window-log }\n`,
    )
    const sources = sourcesOf([tracePath(file)])
    const days = await daysOf(usageOf(sources, { by, rules }))
    const counted = new Map<string, number>()
    for (const { ms, key } of rowsOfTrace(file)) {
      const id = `${new Date(ms).toISOString().slice(0, 10)} ${key}`
      counted.set(id, (counted.get(id) ?? 0) + 1)
    }
    const callers = days.flatMap(({ day, callers: each }) => each.map((caller) => ({ day, ...caller })))
    expect(new Map(callers.map(({ day, caller, requests }) => [`${day} ${caller}`, requests]))).toEqual(
      counted,
    )
    const { policies } = await simulateTraffic(sources, rules)
    expect(callers.reduce((sum, { refused }) => sum + refused, 0)).toBe(policies[0]!.denied)
    for (const { units, requests, refused, share } of callers) {
      expect(units).toBe(requests - refused)
      expect(share).toBe(units / (4 * 24 * 60))
    }
  })
})

describe('the usage of a day', () => {
  it('counts callers one by one up to a bound, and the rest together', () => {
    const tally = new UsageTally(2)
    for (const caller of ['a', 'b', 'c', 'd', 'a']) tally.add(caller, 2, caller === 'd', undefined)
    expect(tally.report(1)).toEqual({
      day: '1970-01-02',
      callers: [
        { caller: 'a', requests: 2, units: 4, refused: 0, share: null },
        { caller: 'b', requests: 1, units: 2, refused: 0, share: null },
      ],
      others: { requests: 2, units: 2, refused: 1 },
    })
  })
})
