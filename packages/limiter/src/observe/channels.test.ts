import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createGate } from '../adapters/gate/gate.ts'
import { createLimiter } from '../limiter.ts'
import { FallbackStore } from '../stores/fallback.ts'
import { MemoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'
import { diagnostics, type TracedCall, tracedStore } from './channels.ts'
import { EVENT_TYPES, type Event, everyObserver, type Observer, observerOf } from './events.ts'

const policies = { api: { algorithm: 'fixed-window', limit: 1, period: '1d' } } as const

function heardAt(name: string): Event[] {
  const heard: Event[] = []
  const listener = (message: unknown): void => void heard.push(message as Event)
  subscribe(name, listener)
  onTestFinished(() => void unsubscribe(name, listener))
  return heard
}

/** A store as if it were elsewhere. */
function remote(decide?: () => Promise<never>): Store<true> {
  const memory = new MemoryStore()
  return {
    async: true,
    decide: decide ?? (async (...asked) => memory.decide(...asked)),
    settle: async (...asked) => memory.settle(...asked),
    reset: async (state) => memory.reset(state),
    block: async (...asked) => memory.block(...asked),
    close: async () => memory.close(),
  }
}

test('each event is published at the channel of its type', () => {
  const observe = diagnostics()
  const events = EVENT_TYPES.map((type) => ({ type }) as Event)
  const heard = EVENT_TYPES.map((type) => heardAt(`sluice:${type}`))
  for (const event of events) observe(event)
  expect(heard.flat()).toEqual(events)
})

test('decisions can be heard from outside, and are not even events while no one listens', () => {
  const observe = vi.fn(diagnostics())
  const limiter = createLimiter({ policies, observe: Object.assign(observe, diagnostics()) })
  limiter.check('ada')
  expect(observe).not.toHaveBeenCalled()
  const heard = heardAt('sluice:decided')
  expect(limiter.check('ada').allowed).toBe(false)
  expect(heard).toMatchObject([
    { type: 'decided', domain: 'limiter', decision: { policy: 'api', remaining: 0 } },
  ])
})

test('beside others an observer hears of its own types, and channels wait for subscribers', () => {
  const all: Event[] = []
  const settled: Event[] = []
  const only = observerOf(['settled'], (event) => settled.push(event))
  const { observe, add } = everyObserver(only, diagnostics())
  expect(EVENT_TYPES.filter((type) => observe.listens!(type))).toEqual(['settled'])
  add((event) => all.push(event))
  expect(EVENT_TYPES.filter((type) => observe.listens!(type))).toEqual(EVENT_TYPES)
  createLimiter({ policies, observe }).reserve('ada').commit(1)
  expect(all.map(({ type }) => type)).toEqual(['decided', 'reserved', 'settled'])
  expect(settled.map(({ type }) => type)).toEqual(['settled'])
})

test('adapters publish what they decide, beside an observer of the application', async () => {
  const heard = heardAt('sluice:decided')
  const own = vi.fn<Observer>()
  const incoming = () => ({ request: {}, args: [{}], method: 'GET', path: '/' }) as never
  for (const observe of [undefined, own]) {
    const gate = createGate<[object]>({
      limit: 1,
      period: '1d',
      key: () => 'ada',
      ...(observe && { observe }),
    })
    await gate.enter(incoming())
  }
  expect(heard).toHaveLength(2)
  expect(own.mock.calls.map(([{ type }]) => type)).toEqual(['decided', 'answered'])
})

test('a store that is traced shows its calls, in the context of who asked', async () => {
  const calls = tracingChannel<string, TracedCall>('sluice:store')
  const phases: [string, TracedCall, string | undefined][] = []
  const caller = new AsyncLocalStorage<string>()
  const note = (phase: string) => (message: unknown) =>
    void phases.push([phase, message as TracedCall, caller.getStore()])
  const subscribers = {
    start: note('start'),
    end: note('end'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  }
  const limiter = createLimiter({ policies, store: tracedStore(remote()) })
  await limiter.check('eve') // before anyone listens
  calls.subscribe(subscribers as never)
  onTestFinished(() => void calls.unsubscribe(subscribers as never))
  await caller.run('a request', () => limiter.check('ada'))
  expect(phases.map(([phase, , from]) => [phase, from])).toEqual([
    ['start', 'a request'],
    ['end', 'a request'],
    ['asyncEnd', 'a request'],
  ])
  expect(phases[2]![1]).toMatchObject({ call: 'decide', result: { allowed: true } })

  phases.length = 0
  const failing = new FallbackStore(tracedStore(remote(() => Promise.reject(new Error('down')))))
  expect(await createLimiter({ policies, store: failing }).check('ada')).toMatchObject({ degraded: true })
  expect(phases.find(([phase]) => phase === 'error')![1]).toMatchObject({
    call: 'decide',
    error: { message: 'down' },
  })
})

test('where the platform has no such channels, nothing happens', () => {
  const { getBuiltinModule } = process
  onTestFinished(() => void Object.assign(process, { getBuiltinModule }))
  Object.assign(process, { getBuiltinModule: undefined })
  const observe = diagnostics()
  expect(EVENT_TYPES.some((type) => observe.listens!(type))).toBe(false)
  observe({ type: 'settled', domain: 'shop', settled: true })
  const store = new MemoryStore()
  expect(tracedStore(store)).toBe(store)
  expect(channel('sluice:settled').hasSubscribers).toBe(false)
})
