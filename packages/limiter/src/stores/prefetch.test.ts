import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Policy, planOf } from '../core/decide/algorithms.ts'
import type { Rule } from '../core/decide/rule.ts'
import { StoreError } from '../core/errors.ts'
import { createLimiter } from '../limiter.ts'
import { stepFor } from '../testing.ts'
import { FallbackStore } from './fallback.ts'
import { idle, setUp, WINDOW } from './prefetch/nodes.test-support.ts'
import { PrefetchStore } from './prefetch.ts'
import type { Outcome, Step } from './store.ts'

function withRule(step: Step, own: Partial<Rule>): Step {
  return { ...step, rule: { ...step.rule, ...own } }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a lease', () => {
  it('is taken by the second request of a key, and spent without asking', async () => {
    const { node, step, asked } = setUp()
    for (let i = 0; i < 10; i++) expect((await node.decide([step()], false)).allowed).toBe(true)
    expect(asked).toEqual([1, 20])
    expect(node.granted).toBe(8)
  })

  it('is filled up at half, with nobody waiting', async () => {
    const { node, step, asked } = setUp()
    for (let i = 0; i < 12; i++) await node.decide([step()], false)
    expect(asked).toEqual([1, 20, 10])
    expect(node.granted).toBe(10)
  })

  it('is shared by all who ask at once', async () => {
    const { node, step, asked } = setUp()
    await node.decide([step()], false)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => node.decide([step()], false)))
    expect(asked).toEqual([1, 20])
    expect(outcomes.map(({ figures }) => figures[0]!.remaining)).toEqual([
      98, 97, 96, 95, 94, 93, 92, 91, 90, 89,
    ])
  })

  it('grows with those who wait, beyond what lies ahead', async () => {
    const { node, step, asked } = setUp()
    await node.decide([step()], false)
    await Promise.all(Array.from({ length: 60 }, () => node.decide([step()], false)))
    expect(asked).toEqual([1, 20, 40])
  })

  it('is smaller the less is left, and never keeps the last unit from its own node', async () => {
    const { node, step, asked } = setUp({ ...WINDOW, limit: 50 }, 20)
    const outcomes: Outcome[] = []
    for (let i = 0; i < 60; i++) outcomes.push(await node.decide([step()], false))
    expect(outcomes.map(({ allowed }) => allowed)).toEqual(Array.from({ length: 60 }, (_, i) => i < 50))
    expect(Math.max(...asked.slice(3))).toBeLessThan(15)
  })

  it('asks for the cost alone where the lease was too much', async () => {
    const { node, step, asked, nodeOf } = setUp({ ...WINDOW, limit: 10 }, 5)
    await node.decide([step()], false)
    const other = nodeOf()
    await other.decide([step(8)], false)
    expect((await node.decide([step()], false)).allowed).toBe(true)
    expect((await node.decide([step()], false)).allowed).toBe(false)
    expect(asked).toEqual([1, 8, 4, 1, 1])
  })

  it('is used up where it cannot be filled up', async () => {
    const { node, step, asked, nodeOf } = setUp()
    for (let i = 0; i < 11; i++) await node.decide([step()], false)
    await nodeOf().decide([step(79)], false)
    for (let i = 0; i < 10; i++) expect((await node.decide([step()], false)).allowed).toBe(true)
    expect((await node.decide([step()], false)).allowed).toBe(false)
    expect(asked).toEqual([1, 20, 79, 10, 1])
  })

  it('never lets a request be refused for units that lie here', async () => {
    const { node, step, asked, returned, nodeOf } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    await nodeOf().decide([step(70)], false)
    const { allowed, figures } = await node.decide([step(25)], false)
    expect([allowed, figures[0]!.remaining]).toEqual([true, 2])
    expect(asked).toEqual([1, 20, 70, 25, 25])
    expect(returned).toEqual([18])
  })

  it('ends with its window', async () => {
    const { clock, node, step, memory } = setUp()
    clock.advance(59_990)
    for (let i = 0; i < 5; i++) await node.decide([step()], false)
    clock.advance(10)
    expect(node.granted).toBe(3)
    const { figures } = await node.decide([step()], false)
    expect(node.granted).toBe(3)
    expect(figures[0]!.remaining).toBe(99)
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(80)
  })

  it('is given back when idle, into the window it was taken from', async () => {
    const { clock, node, step, memory, returned } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(79)
    await idle(clock, 1_500)
    expect(returned).toEqual([18])
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(97)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is given back on close', async () => {
    const { node, step, shared, returned } = setUp()
    const close = vi.spyOn(shared, 'close')
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    await node.close()
    expect(returned).toEqual([18])
    expect(close).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is given back when the limit changes', async () => {
    const { node, step, memory, returned } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    const changed = stepFor(planOf({ ...WINDOW, limit: 50 }), { prefetch: 20 })
    const { figures } = await node.decide([changed], false)
    expect(returned).toEqual([18])
    expect(figures[0]!.limit).toBe(50)
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(96)
  })

  it('is forgotten on reset', async () => {
    const { node, step, memory, returned } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    await node.reset(step())
    await node.close()
    expect(returned).toEqual([])
    expect(memory.decide([step(0)], true).figures[0]!.remaining).toBe(100)
  })

  it('is not taken for more keys than it may', async () => {
    const { shared, now, step, asked } = setUp()
    const node = new PrefetchStore(shared, { nodes: 1, maxKeys: 1, now })
    for (const key of ['a', 'b', 'a', 'b', 'a', 'b']) await node.decide([step(1, { key })], false)
    expect(asked).toEqual([1, 1, 20, 1, 1])
  })
})

describe('requests that no lease decides', () => {
  it.each([
    ['of several policies', (step: Step): Step[] => [step, withRule(step, { name: 'q', namespace: 'q' })]],
    ['of rules without prefetch', (step: Step): Step[] => [withRule(step, { prefetch: undefined })]],
    ['of shadows', (step: Step): Step[] => [withRule(step, { role: 'shadow' })]],
  ])('%s go straight to the store', async (_, steps) => {
    const { node, step, asked } = setUp()
    for (let i = 0; i < 5; i++) await node.decide(steps(step()), false)
    expect(asked).toEqual([1, 1, 1, 1, 1])
  })

  it('look at the store and at what was taken ahead', async () => {
    const { node, step } = setUp()
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    expect((await node.decide([step(0)], false)).figures[0]!.remaining).toBe(97)
    const looked = async (cost: number) => (await node.decide([step(cost)], true)).figures[0]!
    expect(await looked(97)).toMatchObject({ allowed: true, remaining: 97 })
    expect(await looked(98)).toMatchObject({ allowed: false, remaining: 97 })
    expect(await looked(101)).toMatchObject({ allowed: false, retryAfterMs: null })
  })

  it('are answered by the store once it fails, and nothing is banked then', async () => {
    const { shared, now, step, nodeOf } = setUp()
    const decide = vi.spyOn(shared, 'decide')
    const node = nodeOf(new FallbackStore(shared, { now }))
    for (let i = 0; i < 3; i++) await node.decide([step()], false)
    decide.mockRejectedValue(new StoreError('gone'))
    for (let i = 0; i < 18; i++) expect((await node.decide([step()], false)).degraded).toBeUndefined()
    for (let i = 0; i < 30; i++) expect((await node.decide([step()], false)).degraded).toBe(true)
  })

  it('that waited for a question hear of its failure', async () => {
    const { shared, node, step } = setUp()
    await node.decide([step()], false)
    vi.spyOn(shared, 'decide').mockRejectedValueOnce(new StoreError('gone'))
    const both = await Promise.allSettled([node.decide([step()], false), node.decide([step()], false)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})

describe('a charge granted from a lease', () => {
  const limiterOf = (policy: Policy) => {
    const { node, clock, memory } = setUp(policy)
    const limiter = createLimiter({ store: node, policies: { api: { ...policy, prefetch: 20 } } })
    return { limiter, clock, memory }
  }

  it.each(['fixed-window', 'sliding-window-log', 'sliding-window-counter', 'token-bucket'] as const)(
    'can be refunded (%s)',
    async (algorithm) => {
      const { limiter, clock } = limiterOf({ algorithm, limit: 100, period: '1m' })
      for (let i = 0; i < 3; i++) await limiter.check('ada')
      const before = (await limiter.peek('ada')).remaining
      clock.advance(10)
      const decision = await limiter.check('ada', { cost: 4 })
      await limiter.refund(decision)
      expect((await limiter.peek('ada')).remaining).toBe(before)
    },
  )

  it('can be settled for as long as any other, however old the lease', async () => {
    const { limiter, clock } = limiterOf({ ...WINDOW, period: '1d' })
    for (let i = 0; i < 3; i++) await limiter.check('ada')
    clock.advance(120_000)
    const reservation = await limiter.reserve('ada', { cost: 5 })
    clock.advance(59_000)
    expect(await reservation.commit(9)).toBe(true)
    expect((await limiter.check('ada')).remaining).toBe(87)
  })
})
