import { deepEqual, equal, ok } from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { createLimiter } from '@sluice/limiter'
import type { FrameworkArgs, RateLimitInfo } from '@sluice/limiter/gate'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { PrefetchStore } from '@sluice/limiter/stores/prefetch'
import type { Runner } from '../runner.ts'
import { type AdapterBench, type AdapterUnderTest, benches, type TestOptions } from './bench.ts'
import { brokenStore } from './failures.ts'
import { faultsOfInfo } from './read-figures.ts'
import { ANY, ruled } from './rulebooks.ts'

const ONE = { limit: 1, period: '1m' } satisfies TestOptions
const NO_LIMIT = { limit: Number.POSITIVE_INFINITY, remaining: Number.POSITIVE_INFINITY, used: 0, policy: '' }

/** One way in which a request may end. */
interface EndOfRequest {
  /** Of one limiter, or of several in a row. Each test calls it anew: no store is shared. */
  readonly options: () => TestOptions | readonly TestOptions[]
  /** Requests before the one that is looked at. Default 0. */
  readonly before?: number
  /** Default 200. */
  readonly status?: number
  /** What the application, or the refusal, finds. */
  readonly figures: Partial<RateLimitInfo>
  /** It waits before it is answered. */
  readonly waits?: true
}

const OUTCOMES: Readonly<Record<string, EndOfRequest>> = {
  allowed: {
    options: () => ({ ...ONE, limit: 5 }),
    figures: { limit: 5, used: 1, remaining: 4, policy: 'default', priority: 'normal', soft: false },
  },
  denied: {
    options: () => ONE,
    before: 1,
    status: 429,
    figures: { limit: 1, used: 1, remaining: 0, policy: 'default' },
  },
  'denied by a limit of 0': {
    options: () => ({ ...ONE, limit: 0 }),
    status: 429,
    figures: { limit: 0, used: 0 },
  },
  'denied by one of several policies': {
    options: () => ({ policies: { wide: { ...ONE, limit: 9 }, narrow: ONE } }) as TestOptions,
    before: 1,
    status: 429,
    figures: { limit: 1, remaining: 0, policy: 'narrow' },
  },
  'denied by a limiter of the application': {
    options: () => ({
      limiter: createLimiter({ policies: { own: { algorithm: 'gcra', limit: 1, period: '1m' } } }),
    }),
    before: 1,
    status: 429,
    figures: { limit: 1, policy: 'own' },
  },
  'denied by a limit that nothing refills': {
    options: () => ({ ...ONE, algorithm: 'token-bucket', limit: 0, burst: 1 }),
    before: 1,
    status: 429,
    figures: { limit: 1, remaining: 0, resetTime: undefined },
  },
  'denied by a limit that is full again after the end of all dates': {
    options: () => ({ ...ONE, algorithm: 'token-bucket', period: '100000d', burst: 2_000, cost: 2_000 }),
    before: 1,
    status: 429,
    figures: { limit: 2_000, remaining: 0, resetTime: new Date(8.64e15) },
  },
  'denied, and kept waiting': {
    options: () => ({ ...ONE, limit: 0, tarpit: '1s' }),
    status: 429,
    figures: { limit: 0 },
    waits: true,
  },
  'denied a cost that never fits': {
    options: () => ({ ...ONE, limit: 5, cost: 6 }),
    status: 429,
    figures: { limit: 5, used: 0, remaining: 5 },
  },
  delayed: {
    options: () => ({ ...ONE, algorithm: 'leaky-bucket', burst: 3 }),
    before: 1,
    figures: { limit: 3, remaining: 1 },
    waits: true,
  },
  'denied, since no more can be kept waiting': {
    options: () => ({ ...ONE, algorithm: 'leaky-bucket', burst: 3, maxWaiting: 0 }),
    before: 1,
    status: 429,
    figures: { limit: 3 },
  },
  blocked: {
    options: () => ({ ...ONE, block: { after: 1, within: '1m', for: '5m' } }),
    before: 2,
    status: 429,
    figures: { limit: 1, remaining: 0 },
  },
  shadow: { options: () => ({ ...ONE, shadow: true }), before: 1, figures: { ...NO_LIMIT } },
  'only shadow policies': {
    options: () =>
      ({ policies: { a: { ...ONE, shadow: true }, b: { ...ONE, shadow: true } } }) as TestOptions,
    before: 1,
    figures: NO_LIMIT,
  },
  'only shadow rules': { options: () => ruled({ ...ANY, mode: 'shadow' }), before: 3, figures: NO_LIMIT },
  'no rule matches': { options: () => ruled({ ...ANY, when: { path: ['/other'] } }), figures: NO_LIMIT },
  'no rules at all': { options: () => ruled(), figures: NO_LIMIT },
  'a rule’s key is missing': { options: () => ruled({ ...ANY, key: ['user'] }), figures: NO_LIMIT },
  'a rule is exempted from': { options: () => ruled({ ...ANY, exempt: ['127.0.0.1'] }), figures: NO_LIMIT },
  'a cost that cannot be read': {
    options: () => ruled({ ...ANY, cost: 'header:host' }),
    status: 400,
    figures: { limit: 0, remaining: 0, policy: 'bad-request' },
  },
  deprioritized: {
    options: () => ruled({ ...ANY, onLimit: 'deprioritize', limit: { limit: 1, period: '1m' } }),
    before: 1,
    figures: { limit: 1, used: 1, remaining: 0, policy: 'any', priority: 'low' },
  },
  'within a limit that deprioritizes': {
    options: () => ruled({ ...ANY, onLimit: 'deprioritize' }),
    figures: { limit: 3, remaining: 2, policy: 'any', priority: 'normal' },
  },
  'deprioritized, within another limit': {
    options: () =>
      ruled(ANY, { ...ANY, name: 'low', onLimit: 'deprioritize', limit: { limit: 1, period: '1m' } }),
    before: 1,
    figures: { limit: 3, remaining: 1, policy: 'any', priority: 'low' },
  },
  'deprioritized by an earlier limiter': {
    options: () => [
      ruled({ ...ANY, onLimit: 'deprioritize', limit: { limit: 1, period: '1m' } }),
      { ...ONE, limit: 9 },
    ],
    before: 1,
    figures: { limit: 9, policy: 'default', priority: 'low' },
  },
  soft: {
    options: () => ({ ...ONE, limit: 4, soft: 0.5 }),
    before: 1,
    figures: { remaining: 2, soft: true },
  },
  skipped: { options: () => ({ ...ONE, limit: 0, skip: () => true }), figures: NO_LIMIT },
  'allow-listed': { options: () => ({ ...ONE, limit: 0, allowList: ['127.0.0.1'] }), figures: NO_LIMIT },
  'deny-listed': {
    options: () => ({ ...ONE, denyList: ['127.0.0.1'] }),
    status: 403,
    figures: { limit: 0, remaining: 0, policy: 'deny-list' },
  },
  'a key is missing, and the address counts': {
    options: () => ({ ...ONE, limit: 3, key: () => undefined }),
    figures: { limit: 3, remaining: 2, key: '127.0.0.1' },
  },
  'a key is missing, and that is skipped': {
    options: () => ({ ...ONE, limit: 0, key: () => undefined, onMissingKey: 'skip' }),
    figures: NO_LIMIT,
  },
  'a key is missing, and all share one': {
    options: () => ({ ...ONE, limit: 3, key: () => undefined, onMissingKey: 'share' }),
    figures: { limit: 3, key: '' },
  },
  'a key is missing, and that is denied': {
    options: () => ({ ...ONE, limit: 3, key: () => undefined, onMissingKey: 'deny' }),
    status: 429,
    figures: { limit: 0, remaining: 0, policy: 'missing-key' },
  },
  'the store fails: open': {
    options: () => ({ ...ONE, store: brokenStore() }),
    before: 1,
    figures: NO_LIMIT,
  },
  'the store fails: closed': {
    options: () => ({ ...ONE, store: brokenStore(), onStoreError: 'closed' }),
    status: 503,
    figures: { limit: 1, remaining: 0 },
  },
  'the store fails: local': {
    options: () => ({ ...ONE, limit: 3, store: brokenStore(), onStoreError: 'local' }),
    figures: { limit: 3, remaining: 2, policy: 'default' },
  },
  'the store fails: local, over its limit': {
    options: () => ({ ...ONE, store: brokenStore(), onStoreError: 'local' }),
    before: 1,
    status: 503,
    figures: { limit: 1, remaining: 0, policy: 'default' },
  },
  'the store of a limiter fails: open': {
    options: () => ({ limiter: failingLimiter() }),
    figures: NO_LIMIT,
  },
  'the store of a limiter fails: closed': {
    options: () => ({ limiter: failingLimiter(), onStoreError: 'closed' }),
    status: 503,
    figures: { limit: 0, remaining: 0, policy: 'store' },
  },
  'the store of a limiter in shadow mode fails: open': {
    options: () => ({ ...ONE, store: brokenStore(), shadow: true }),
    figures: NO_LIMIT,
  },
  'granted from units taken ahead': {
    options: () => ({
      ...ONE,
      limit: 100,
      algorithm: 'token-bucket',
      prefetch: 10,
      store: new PrefetchStore(new FallbackStore(new MemoryStore(), { deadlineMs: 10_000 })),
    }),
    before: 1,
    figures: { limit: 100, policy: 'default' },
  },
  'a cost of 0': { options: () => ({ ...ONE, cost: 0 }), figures: { limit: 1, used: 0, remaining: 1 } },
  'a slot is held': {
    options: () => ({ policies: { work: { algorithm: 'concurrency', limit: 2, period: '1m' } } }),
    figures: { limit: 2, remaining: 1, policy: 'work' },
  },
  'a month of a calendar': {
    options: () => ({ ...ONE, limit: 2, period: { calendar: 'month' } }),
    figures: { limit: 2, remaining: 1 },
  },
  'a later limiter in shadow mode leaves the figures of an earlier one': {
    options: () => [
      { ...ONE, limit: 7 },
      { ...ONE, shadow: true },
    ],
    figures: { limit: 7, remaining: 6, policy: 'default' },
  },
  'a later limiter that is skipped leaves the figures of an earlier one': {
    options: () => [
      { ...ONE, limit: 7 },
      { ...ONE, skip: () => true },
    ],
    figures: { limit: 7, remaining: 6, policy: 'default' },
  },
  'an earlier limiter in shadow mode': {
    options: () => [
      { ...ONE, shadow: true },
      { ...ONE, limit: 7 },
    ],
    figures: { limit: 7, remaining: 6, policy: 'default' },
  },
}

/** Names of options that are functions of a request, by their types, so that a new one has to be called here. */
type FunctionOption = Exclude<
  {
    // biome-ignore lint/suspicious/noExplicitAny: any function
    [O in keyof TestOptions]-?: Extract<TestOptions[O], (...args: any[]) => unknown> extends never ? never : O
  }[keyof TestOptions],
  'max' | 'keyGenerator' | 'rules' | 'observe' | 'wallClock' | 'partitionKey' // other names, or no functions of a request
>
/** `message` may be anything, so types do not say that it may be a function. */
type Called = FunctionOption | 'message'

/** What is seen of one request. */
interface Seen {
  readonly by: string
  readonly info: RateLimitInfo | undefined
}

/** The options with all functions that they may have, each of which looks at the figures where applications find them. */
function looking(options: TestOptions, look: (by: Called, native: FrameworkArgs) => void): TestOptions {
  const given = (name: Called, otherwise: unknown) => {
    const own = options[name]
    return (...args: readonly unknown[]): never => {
      look(name, args)
      return (typeof own === 'function' ? own(...args) : (own ?? otherwise)) as never
    }
  }
  const isOfRules = options.rules !== undefined
  const has = { limit: options.limit !== undefined, key: !isOfRules }
  const all: Readonly<Record<Called, ((...args: readonly unknown[]) => never) | undefined>> = {
    address: given('address', '127.0.0.1'),
    key: has.key ? given('key', '127.0.0.1') : undefined,
    ipv6Subnet: has.key ? given('ipv6Subnet', 64) : undefined,
    skip: given('skip', false),
    cost: given('cost', 1),
    limit: has.limit ? given('limit', 1) : undefined,
    plan: has.limit ? given('plan', undefined) : undefined,
    attributes: isOfRules ? given('attributes', {}) : undefined,
    message: given('message', 'refused'),
    onLimitReached: given('onLimitReached', undefined),
    requestWasSuccessful: given('requestWasSuccessful', true),
    settleCost: given('settleCost', undefined),
  }
  const functions = Object.entries(all).filter(([, own]) => own !== undefined)
  const plans = has.limit ? { plans: {} } : undefined
  return { ...options, ...Object.fromEntries(functions), ...plans, skipFailedRequests: true }
}

/**
 * In every outcome the application, and every function of the options, finds all documented figures: no route breaks
 * because a limiter was added, put into shadow mode, or found nothing to say.
 */
export function everyOutcome(runner: Runner, adapter: AdapterUnderTest): void {
  const { info: infoOf, refusing } = adapter
  for (const [name, { options, before = 0, status = 200, figures, waits }] of Object.entries(OUTCOMES)) {
    for (const answeredBy of [
      'message',
      ...(status === 429 && refusing ? ['a function of the adapter'] : []),
    ]) {
      const seen: Seen[] = []
      let latest: FrameworkArgs
      const look = (by: string, native: FrameworkArgs): void => {
        latest = native
        seen.push({ by, info: infoOf(native) })
      }
      benches(runner, adapter)(
        `OF-30, OF-31: ${name}: all figures are there, whoever looks, and refusals are answered by ${answeredBy}`,
        () =>
          [options()].flat().map((each) => ({
            ...looking(each, look),
            ...(answeredBy === 'message' ? undefined : refusing!((native) => look(answeredBy, native))),
          })),
        async ({ get, timers }) => {
          for (let i = 0; i < before; i++) await get()
          seen.length = 0
          const reply = get()
          if (waits) {
            await timers.until(1)
            timers.fire()
          }
          equal((await reply).status, status)
          await calledLater(seen, status)
          look('afterwards', latest)
          const faults = seen.flatMap(({ by, info }) => faultsOfInfo(info).map((fault) => `${by}: ${fault}`))
          deepEqual(faults, [])
          if (status === 429) ok(seen.some(({ by }) => by === answeredBy))
          const { info } = seen.at(-1)!
          for (const [figure, value] of Object.entries(figures))
            deepEqual([figure, info![figure as keyof RateLimitInfo]], [figure, value])
        },
        ({ info }) => {
          seen.push({ by: 'application', info })
          return {}
        },
      )
    }
  }
  methods(runner, adapter)
}

/** Functions that are called once the response is out: they have seen the figures too. */
async function calledLater(seen: readonly Seen[], status: number): Promise<void> {
  if (status !== 200) return
  const isOver = (): boolean => seen.some(({ by }) => by === 'settleCost')
  for (let tries = 0; !isOver() && tries < 5; tries++) await pause(1)
}

/** Whatever the method: HEAD and OPTIONS have no body, and count like others. */
function methods(runner: Runner, adapter: AdapterUnderTest): void {
  for (const method of ['HEAD', 'OPTIONS', 'DELETE']) {
    const seen: Seen[] = []
    benches(runner, adapter)(
      `OF-30: all figures are there for ${method}`,
      () => looking(ONE, (by, native) => void seen.push({ by, info: adapter.info(native) })),
      async ({ get }: AdapterBench) => {
        deepEqual([(await get('/', { method })).status, (await get('/', { method })).status], [200, 429])
        deepEqual(
          seen.flatMap(({ by, info }) => faultsOfInfo(info).map((fault) => `${by}: ${fault}`)),
          [],
        )
        ok(seen.some(({ by }) => by === 'message'))
      },
    )
  }
}

function failingLimiter() {
  return createLimiter({
    store: brokenStore(),
    policies: { p: { algorithm: 'gcra', limit: 1, period: '1m' } },
  })
}
