import { access } from 'node:fs/promises'
import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { planOf } from '../core/decide/algorithms.ts'
import { decisionOf } from '../core/decide/decision.ts'
import { ConfigError, StoreError } from '../core/errors.ts'
import { respondTo } from '../core/respond/respond.ts'
import { createLimiter } from '../limiter.ts'
import type { Observer } from '../observe/events.ts'
import { FakeClock, stepFor } from '../testing.ts'
import { FallbackStore } from './fallback.ts'
import { MemoryStore } from './memory.ts'
import type { Outcome, Step, Store } from './store.ts'

const plan = planOf({ algorithm: 'fixed-window', limit: 10, period: '365d' })

function step(onStoreError: 'open' | 'closed' | 'local', key = 'k'): Step {
  return stepFor(plan, { name: onStoreError, key, onStoreError })
}

/** A store whose answers the test gives. */
function scripted(decide: () => Promise<Outcome>): Store<true> {
  return {
    async: true,
    decide: vi.fn(decide),
    settle: async () => true,
    reset: async () => undefined,
    block: async () => undefined,
    close: async () => undefined,
  }
}

const refused = () => Promise.reject(new Error('ECONNREFUSED'))
const silent = () => new Promise<never>(() => undefined)

describe('fallback store', () => {
  it('hands on what the store says, while it says anything', async () => {
    const memory = new MemoryStore({ clock: new FakeClock() })
    const store = new FallbackStore(memory)
    const outcome = await store.decide([step('closed')], false)
    expect(outcome).toMatchObject({ allowed: true, figures: [{ remaining: 9 }] })
    expect(outcome.degraded).toBeUndefined()
  })

  it.each([
    ['broken', refused],
    ['silent', silent],
  ])('decides by each rule, alike for a %s store, and marks it', async (_kind, answer) => {
    const ask = (...steps: Step[]) =>
      new FallbackStore(scripted(answer), { deadlineMs: 5 }).decide(steps, false)
    expect(await ask(step('open'))).toMatchObject({ allowed: true, degraded: true })
    expect(await ask(step('closed'))).toMatchObject({
      allowed: false,
      degraded: true,
      figures: [{ allowed: false }],
    })
    expect(await ask(step('local'))).toMatchObject({
      allowed: true,
      degraded: true,
      figures: [{ remaining: 9 }],
    })
    expect(await ask(step('open'), step('closed'))).toMatchObject({ allowed: false })
  })

  it('keeps to the share of the limit that this process may grant', async () => {
    const store = new FallbackStore(scripted(refused), { localShare: 0.25 })
    const allowed: boolean[] = []
    for (let i = 0; i < 4; i++) allowed.push((await store.decide([step('local')], false)).allowed)
    expect(allowed).toEqual([true, true, false, false])
  })

  it('does not charge a local step when a closed one refuses the request', async () => {
    const store = new FallbackStore(scripted(refused))
    await store.decide([step('local'), step('closed')], false)
    expect((await store.decide([step('local')], true)).figures[0]!.remaining).toBe(10)
  })

  it('stops asking after failures in a row, probes by one, and goes on asking once that succeeds', async () => {
    let now = 0
    let answer: () => Promise<Outcome> = refused
    const inner = scripted(() => answer())
    const store = new FallbackStore(inner, { failures: 3, probeEveryMs: 100, now: () => now })
    for (let i = 0; i < 10; i++) await store.decide([step('open')], false)
    expect(inner.decide).toHaveBeenCalledTimes(3)
    expect(store.state).toBe('open')
    now = 100
    answer = async () => ({ allowed: true, at: 0, figures: [] })
    const [probe, others] = await Promise.all([store.decide([], false), store.decide([step('open')], false)])
    expect(probe.degraded).toBeUndefined()
    expect(others.degraded).toBe(true)
    expect(store.state).toBe('closed')
    expect((await store.decide([], false)).degraded).toBeUndefined()
  })

  it.each([new RangeError('too many steps'), new ConfigError('no such algorithm')])(
    'hands on what is wrong with the question, and holds it against nobody: %s',
    async (error) => {
      let wrong = true
      const answer = async (): Promise<Outcome> => {
        if (wrong) throw error
        return { allowed: true, at: 0, figures: [] }
      }
      const store = new FallbackStore(scripted(answer), { failures: 1 })
      for (let i = 0; i < 3; i++) await expect(store.decide([step('open')], false)).rejects.toBe(error)
      wrong = false
      expect((await store.decide([step('open')], false)).degraded).toBeUndefined()
    },
  )

  it('goes on asking the shards that answer', async () => {
    const memory = new MemoryStore({ clock: new FakeClock() })
    const inner: Store<true> = {
      ...scripted(silent),
      decide: async (steps, peek) => {
        if (steps.some(({ key }) => key.startsWith('dead'))) throw new Error('ECONNREFUSED')
        return memory.decide(steps, peek)
      },
      shardOf: ({ key }) => (key.startsWith('dead') ? 1 : 2),
    }
    let now = 0
    const asked = vi.spyOn(inner, 'decide')
    const store = new FallbackStore(inner, { failures: 2, now: () => now })
    const [dead, live] = [step('open', 'dead'), step('closed', 'live')]
    for (let i = 0; i < 5; i++) {
      expect(await store.decide([dead], false)).toMatchObject({ degraded: true })
      expect(await store.decide([live], false)).toMatchObject({
        allowed: true,
        figures: [{ remaining: 9 - i }],
      })
    }
    expect(asked.mock.calls.filter(([[first]]) => first === dead)).toHaveLength(2)
    expect(store.state).toBe('open')
    // A request of both shards is no probe while one of them may not be asked.
    expect(await store.decide([live, dead], false)).toMatchObject({ degraded: true })
    expect(await store.decide([live], false)).toMatchObject({ allowed: true })
    now = 60_000
    expect(store.state).toBe('closed')
  })

  it('rejects a settlement that cannot be made, so that nobody believes it was', async () => {
    const store = new FallbackStore({ ...scripted(refused), settle: refused })
    await expect(store.settle([])).rejects.toBeInstanceOf(StoreError)
  })

  it('settles a local charge where it was made', async () => {
    const store = new FallbackStore(scripted(refused))
    const asked = step('local')
    const { at } = await store.decide([asked], false)
    await store.settle([{ step: asked, at, change: -1, degraded: true }])
    expect((await store.decide([asked], true)).figures[0]!.remaining).toBe(10)
  })

  it('takes an answer that came while the process was held up past the deadline', async () => {
    const outside = () => access(import.meta.filename) // its answer has to be fetched, as one from a socket has
    const there = () => outside().then((): Outcome => ({ allowed: true, at: 0, figures: [] }))
    const store = new FallbackStore(scripted(there), { deadlineMs: 5 })
    await outside() // what follows runs where sockets are read, as requests do
    const asked = store.decide([step('closed')], false)
    await Promise.resolve()
    const heldUp = performance.now() + 1_000 // on a busy machine an answer takes that long
    while (performance.now() < heldUp);
    expect((await asked).degraded).toBeUndefined()
  })

  it('tells how long answers took', async () => {
    const took: number[] = []
    const answer = async (): Promise<Outcome> => ({ allowed: true, at: 0, figures: [] })
    const observe: Observer = (event) => {
      if (event.type === 'store-answered') took.push(event.ms)
    }
    const store = new FallbackStore(scripted(answer), { now: () => 7, observe })
    await store.decide([step('open')], false)
    expect(took).toEqual([0])
  })

  it('answers a thousand waiting decisions by one timer, and lets late replies go', async () => {
    const store = new FallbackStore(scripted(silent), { deadlineMs: 5, failures: 5_000 })
    const outcomes = await Promise.all(
      Array.from({ length: 1_000 }, () => store.decide([step('open')], false)),
    )
    expect(outcomes.every(({ degraded }) => degraded === true)).toBe(true)
  })

  it.each(['open', 'closed'] as const)('invents no figures of a rule that is %s', async (mode) => {
    const asked = step(mode)
    const outcome = await new FallbackStore(scripted(refused)).decide([asked], false)
    const unknown = { limit: 10, remaining: null, moreAfterMs: null, resetAfterMs: null, delayMs: 0 }
    expect(outcome.figures).toMatchObject([unknown])
    const soft = stepFor(plan, { name: 'soft', onStoreError: mode, soft: 0.1 })
    const decision = decisionOf([soft], outcome, false)
    expect(decision).toMatchObject({ ...unknown, policies: [unknown], degraded: true })
    expect(decision.policies[0]).not.toHaveProperty('soft')
    const { headers } = respondTo(decision, { nowMs: 0, dialect: ['ietf', 'x-ratelimit'] })
    expect(headers.map(([name]) => name).filter((name) => /limit/i.test(name))).toEqual([])
  })

  it('decides by the figures that are known, of rules that are open and local', async () => {
    const steps = [step('open'), step('local'), step('open')]
    const outcome = await new FallbackStore(scripted(refused)).decide(steps, false)
    expect(decisionOf(steps, outcome, false)).toMatchObject({ policy: 'local', remaining: 9 })
  })

  it('gives the reason before it says that the store is not asked any more', async () => {
    const told: string[] = []
    const observe: Observer = (event) => told.push(event.type)
    const store = new FallbackStore(scripted(refused), { failures: 1, observe })
    await store.decide([step('open')], false)
    expect(told).toEqual(['store-failed', 'breaker'])
  })

  it('reports a state that time alone has changed before anyone can read it', async () => {
    let now = 0
    const told: string[] = []
    const observe: Observer = (event) => {
      if (event.type === 'breaker') told.push(event.state)
    }
    const store = new FallbackStore(scripted(refused), { failures: 1, now: () => now, observe })
    await store.decide([step('open')], false)
    now = 60_000
    expect(store.state).toBe('closed')
    expect(told).toEqual(['open', 'closed'])
  })

  it.each(['open', 'closed'] as const)('takes as much as a rule that is %s admits', async (onStoreError) => {
    const limiter = createLimiter({
      store: new FallbackStore(scripted(refused)),
      policies: { p: { algorithm: 'fixed-window', limit: 10, period: '1d', onStoreError } },
    })
    const { cost, decision } = await limiter.takeUpTo('k', 50)
    expectTypeOf(decision.remaining).toEqualTypeOf<number | null>()
    expect(cost).toBe(onStoreError === 'open' ? 50 : 0)
  })
})
