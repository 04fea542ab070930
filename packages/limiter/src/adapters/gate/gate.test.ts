import { describe, expect, it } from 'vitest'
import { ConfigError, StoreError } from '../../core/errors.ts'
import { compile } from '../../core/match/compile.ts'
import { createLimiter } from '../../limiter.ts'
import type { Event } from '../../observe/events.ts'
import { FallbackStore } from '../../stores/fallback.ts'
import { MemoryStore } from '../../stores/memory.ts'
import type { Store } from '../../stores/store.ts'
import { FakeClock } from '../../testing.ts'
import { createGate } from './gate.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { GateOptions } from './options/options.ts'

type Options = GateOptions<[string]>

const rules = compile([{ name: 'd', limits: [], descriptors: [] }])
const limiter = createLimiter({ policies: { p: { algorithm: 'gcra', limit: 1, period: '1m' } } })
const store = new MemoryStore({ clock: new FakeClock() })

/** A store outside the process that decides so. */
function storeThat(decide: Store<true>['decide']): Store<true> {
  const nothing = async (): Promise<void> => undefined
  return { async: true, decide, settle: async () => true, reset: nothing, block: nothing, close: nothing }
}

function incoming(more?: Partial<IncomingRequest<[string]>>): IncomingRequest<[string]> {
  return {
    args: ['native'],
    method: 'GET',
    url: '/',
    host: 'h',
    peer: '192.0.2.1',
    headers: {},
    request: {},
    ...more,
  }
}

describe('a gate’s options', () => {
  const mistakes: [Options, RegExp][] = [
    [{}, /one of limit, policies, limiter and rules, not none/],
    [{ limit: 1 }, /period/],
    [{ limit: 1, period: '1m', limiter }, /not limit and limiter/],
    [{ limit: 1, period: '1m', windowMs: 60_000 }, /period is given twice/],
    [{ limit: 1, period: '1m', max: 2 }, /limit is given twice/],
    [{ limit: 1, period: '1m', store }, /needs a name/],
    [{ limit: 1, period: (() => 1) as never }, /period must be a duration/],
    [{ limit: 1, period: 'soon' }, /"soon" is not a duration/],
    [{ limit: -1, period: '1m' }, /limit must be a whole number/],
    [{ limit: Number.NaN, period: '1m' }, /limit must be a whole number/],
    [{ limit: 1, period: 333.3333 }, /whole microseconds/],
    [
      { limit: () => 1, period: '1m', algorithm: 'bucket' as never },
      /algorithm must be token-bucket, .*, not "bucket"/,
    ],
    [{ limit: 1, period: '1m', trustProxy: true as never }, /trust any client/],
    [
      { limit: 1, period: '1m', trustProxy: 'proxy.example' },
      /trustProxy\[0\] must be loopback, .* or an address or CIDR/,
    ],
    [{ limit: 1, period: '1m', ipv6Subnet: 16 }, /ipv6Subnet/],
    [
      { limit: 1, period: '1m', onMissingKey: 'ignore' as never },
      /onMissingKey must be address, skip, share or deny/,
    ],
    [
      { limit: 1, period: '1m', onStoreError: 'ignore' as never },
      /onStoreError must be open, closed or local/,
    ],
    [{ limit: 1, period: '1m', ipv6Subnet: true as never }, /ipv6Subnet/],
    [{ limit: 1, period: '1m', ipv6Subnet: () => 64, ipv4Subnet: 4 }, /ipv4Subnet/],
    [{ limit: 1, period: '1m', validate: 'no' as never }, /validate must be true or false or an object/],
    [{ limit: 1, period: '1m', validate: null as never }, /validate must be true or false or an object/],
    [{ limit: 1, period: '1m', validate: { oneAdress: false } as never }, /did you mean oneAddress/],
    [{ limit: 1, period: '1m', validate: { sleep: false } as never }, /no option is named "validate.sleep"/],
    [{ limit: 1, period: '1m', validate: { ip: 0 } as never }, /validate.ip must be true or false/],
    [{ limit: 1, period: '1m', statusCode: 200 }, /statusCode/],
    [{ limit: 1, period: '1m', jitter: 2 }, /jitter/],
    [{ limit: 1, period: '1m', tarpit: '1h' }, /one minute/],
    [{ limit: 1, period: '1m', maxWaiting: -1 }, /maxWaiting/],
    [{ limit: 1, period: '1m', dialect: 'ietf-99' as never }, /no dialect is named/],
    [
      { limit: 1, period: '1m', standardHeaders: 'draft-9' as never },
      /standardHeaders must be true or false, draft-6/,
    ],
    [{ limit: 1, period: '1m', identifier: 'naïve' }, /printable ASCII/],
    [{ limit: 1, period: '1m', plan: () => 'pro' }, /give both/],
    [{ limit: 1, period: '1m', allowList: [''] }, /allowList\[0\] must be an address or CIDR, not ""/],
    [{ limit: 1, period: '1m', allowList: (() => true) as never }, /to decide by request, give skip/],
    [{ limit: 1, period: '1m', identifier: (() => 'p') as never }, /identifier must be text/],
    [{ limit: 1, period: '1m', headers: false as never }, /headers must be always or denied, not false/],
    [{ limit: 1, period: '1m', retryAfter: 60 as never }, /retryAfter must be seconds or date, not 60/],
    [{ limit: 1, period: '1m', name: 'n', store: { increment() {} } as never }, /a store of this library/],
    [
      { limit: 1, period: '1m', partitionKey: 'sha256' as never },
      /partitionKey must be a function, not "sha256"/,
    ],
    [{ limit: 1, period: '1m', ban: 3 } as never, /no option is named "ban": give block/],
    [{ limit: 1, period: '1m', domain: 'd' }, /domain has no effect beside limit/],
    [{ policies: { p: { limit: 1, period: '1m' } }, burst: 3 }, /burst has no effect beside policies/],
    [{ policies: {} }, /at least one policy/],
    [{ limiter, onStoreError: 'local' }, /FallbackStore/],
    [{ rules }, /need a domain/],
    [{ rules, domain: 'e' }, /no domain "e"/],
    [{ rules, domain: 'd', key: () => 'k' }, /key has no effect beside rules/],
  ]
  for (const [options, message] of mistakes) {
    it(`T59: are refused where they mean nothing: ${message.source}`, () => {
      expect(() => createGate<[string]>(options)).toThrow(ConfigError)
      expect(() => createGate<[string]>(options)).toThrow(message)
    })
  }

  it.each([
    '127.0.0.0/33',
    '127.0.0.*',
    ' 127.0.0.1',
    '127.0.0.256',
    '10.0',
    '::1/129',
    'fe80::1%eth0',
    '10.0.0.1-9',
  ])('OF-21: lists refuse %j, which looks like an address and is none, with keys and without', (entry) => {
    for (const own of [{}, { key: () => 'ada' }]) {
      for (const [path, lists] of [
        ['denyList[1]', { denyList: ['192.0.2.1', entry] }],
        ['allowList[0]', { allowList: [entry] }],
        [`overrides[${JSON.stringify(entry)}]`, { overrides: { [entry]: 2 } }],
      ] as const) {
        expect(() => createGate({ limit: 1, period: '1m', ...own, ...lists })).toThrow(`${path} must be`)
      }
    }
  })

  it('OF-21: lists take any other text where callers have keys, and only addresses where they have none', () => {
    for (const entry of ['ada', '42', 'user:42', 'a.b', 'aa:bb:cc:dd:ee:ff', '10.0.0.1 ada', 'team/7']) {
      const gate = { limit: 1, period: '1m', denyList: [entry] } as const
      expect(() => createGate({ ...gate, key: () => 'ada' })).not.toThrow()
      expect(() => createGate(gate)).toThrow('denyList[0] must be an address or CIDR')
    }
  })

  it('are told the nearest name where theirs is unknown', () => {
    const gate = (more: object) => () => createGate({ limit: 1, period: '1m', ...more })
    expect(gate({ keyGenerater: () => 'k' })).toThrow(
      'no option is named "keyGenerater"; did you mean keyGenerator?',
    )
    expect(gate({ windowms: 1 })).toThrow('did you mean windowMs?')
    expect(gate({ quite: 'else' })).toThrow(/^no option is named "quite"$/)
    expect(gate({ __proto__: null, constructor: 1 })).toThrow('no option is named "constructor"')
  })

  it('have the names that other libraries gave them', async () => {
    const gate = createGate<[string]>({
      max: 2,
      timeWindow: '1 minute',
      keyGenerator: (name) => name,
      standardHeaders: 'draft-6',
      legacyHeaders: false,
    })
    const verdict = await gate.enter(incoming())
    expect(verdict.info).toMatchObject({ limit: 2, used: 1, key: 'native' })
    expect(verdict.headers()).toEqual([
      ['RateLimit-Policy', '2;w=60'],
      ['RateLimit-Limit', '2'],
      ['RateLimit-Remaining', '1'],
      ['RateLimit-Reset', '60'],
    ])
  })
})

describe('a gate', () => {
  it('opens a caller’s window at its first request, whatever the time', async () => {
    const clock = new FakeClock()
    clock.advance(12_345)
    const gate = createGate<[string]>({
      limit: 1,
      period: '1m',
      name: 'n',
      store: new MemoryStore({ clock }),
    })
    expect((await gate.enter(incoming())).refusal).toBeUndefined()
    clock.advance(59_999)
    expect((await gate.enter(incoming())).refusal?.status).toBe(429)
    clock.advance(1)
    expect((await gate.enter(incoming())).refusal).toBeUndefined()
  })

  it('shows when all is available again as a Date, in JSON too', async () => {
    const gate = createGate<[string]>({ limit: 2, period: '1m', wallClock: () => 1_000 })
    const { info } = await gate.enter(incoming())
    expect(info?.resetTime).toEqual(new Date(61_000))
    expect(JSON.parse(JSON.stringify(info))).toMatchObject({
      limit: 2,
      used: 1,
      resetTime: '1970-01-01T00:01:01.000Z',
    })
  })

  it('judges a request once', async () => {
    const gate = createGate<[string]>({ limit: 1, period: '1m' })
    const once = incoming()
    expect((await gate.enter(once)).info?.remaining).toBe(0)
    expect(await gate.enter(once)).toMatchObject({ delayMs: 0 })
    expect((await gate.enter(incoming())).refusal?.status).toBe(429)
  })

  it('takes an error in place of a request that has neither key nor address', async () => {
    const gate = createGate<[string]>({ limit: 1, period: '1m' })
    expect(() => gate.enter(incoming({ peer: undefined }))).toThrow('neither a key nor a client address')
  })

  it('lets all who lack a key share a bucket, where that is said', async () => {
    const gate = createGate<[string]>({ limit: 1, period: '1m', key: () => undefined, onMissingKey: 'share' })
    await gate.enter(incoming())
    expect((await gate.enter(incoming({ peer: '192.0.2.2' }))).refusal?.status).toBe(429)
  })

  it('keeps overrides to the most fitting: a key before a network, a narrow network before a wide one', async () => {
    const overrides = { '192.0.0.0/8': 2, '192.0.2.0/24': 3, '192.0.2.7': 4 }
    const limits = async (options: Options, peer: string) =>
      (
        await createGate<[string]>({ limit: 1, period: '1m', overrides, ...options }).enter(
          incoming({ peer }),
        )
      ).info?.limit
    expect(await limits({}, '10.0.0.1')).toBe(1)
    expect(await limits({}, '192.9.9.9')).toBe(2)
    expect(await limits({}, '192.0.2.1')).toBe(3)
    expect(await limits({}, '::ffff:192.0.2.7')).toBe(4)
    const key = () => 'vip'
    expect(await limits({ key, overrides: { ...overrides, vip: 5 } }, '192.0.2.7')).toBe(5)
  })

  it('counts IPv6 by as many leading bits as it is told, by request too', async () => {
    const keyOf = async (ipv6Subnet: NonNullable<Options['ipv6Subnet']>, peer: string, name = 'native') =>
      (
        await createGate<[string]>({ limit: 1, period: '1m', ipv6Subnet }).enter(
          incoming({ peer, args: [name] }),
        )
      ).info?.key
    expect(await keyOf(64, '2001:db8::1')).toBe('2001:db8::/64')
    expect(await keyOf(false, '2001:db8::1')).toBe('2001:db8::1')
    const byRequest = async (name: string) => (name === 'whole' ? false : 48)
    expect(await keyOf(byRequest, '2001:db8:1:2::1', 'whole')).toBe('2001:db8:1:2::1')
    expect(await keyOf(byRequest, '2001:db8:1:2::1')).toBe('2001:db8:1::/48')
    expect(await keyOf(byRequest, '192.0.2.1')).toBe('192.0.2.1')
    for (const wrong of [16, 64.5, Number.NaN, undefined, '64']) {
      await expect(async () => keyOf(() => wrong as never, '2001:db8::1')).rejects.toThrow('ipv6Subnet must')
    }
  })

  it('tells counters apart by a hash of their own limiter’s key', async () => {
    const partitionKey = (key: string) => new TextEncoder().encode(key)
    const limiterBy = (identifier: string, key?: (name: string) => string) =>
      createGate<[string]>({ limit: 2, period: '1m', identifier, partitionKey, ...(key && { key }) })
    const request = incoming()
    await limiterBy('address').enter(request)
    const both = await limiterBy('user', () => 'ada').enter(request)
    const told = Object.fromEntries(both.headers())['RateLimit-Policy']
    expect(told).toBe(`"address";q=2;w=60;pk=:${btoa('192.0.2.1')}:, "user";q=2;w=60;pk=:${btoa('ada')}:`)
    const wrong = createGate<[string]>({ limit: 1, period: '1m', partitionKey: (() => 'ada') as never })
    expect(() => wrong.enter(incoming())).toThrow('must give a Uint8Array, not string')
  })

  it('takes limits from functions by the thousand, over the same counters', async () => {
    let limit = 5
    const gate = createGate<[string]>({ limit: async () => limit, period: '1m' })
    for (let i = 0; i < 3; i++) await gate.enter(incoming())
    for (limit = 10; limit < 1_200; limit++) {
      expect((await gate.enter(incoming({ peer: `10.0.${limit >> 8}.${limit & 255}` }))).info?.limit).toBe(
        limit,
      )
    }
    limit = 5
    expect((await gate.enter(incoming())).info?.remaining).toBe(1)
    await gate.reset('192.0.2.1')
    expect((await gate.enter(incoming())).info?.remaining).toBe(4)
    await expect(gate.peek('192.0.2.1')).rejects.toThrow('cannot be looked at')
  })

  it('gives such a function the key, as lists name it', async () => {
    const gate = createGate<[string]>({
      limit: (_request, key) => (key === 'vip' ? 9 : 1),
      period: '1m',
      key: (name) => name,
    })
    expect((await gate.enter(incoming({ args: ['vip'] }))).info?.limit).toBe(9)
    expect((await gate.enter(incoming({ args: ['ada'] }))).info?.limit).toBe(1)
  })

  it('takes a lack of address from a function as such, be it null', async () => {
    const gate = createGate<[string]>({ limit: 1, period: '1m', address: () => null as never })
    expect(() => gate.enter(incoming())).toThrow('neither a key nor a client address')
  })

  it('uses a limiter that others use too', async () => {
    const shared = createLimiter({
      policies: { login: { algorithm: 'sliding-window-log', limit: 2, period: '1m' } },
      store: new MemoryStore({ clock: new FakeClock() }),
    })
    const gate = createGate<[string]>({ limiter: shared, key: () => 'ada', skipSuccessfulRequests: true })
    shared.check('ada')
    const verdict = await gate.enter(incoming())
    expect(verdict.info).toMatchObject({ policy: 'login', remaining: 0 })
    await verdict.settle?.({ status: 200, aborted: false })
    expect(shared.peek('ada').remaining).toBe(1)
    const settled = createGate<[string]>({ limiter: shared, key: () => 'bob', settleCost: () => 2 })
    await (await settled.enter(incoming())).settle?.({ status: 200, aborted: false })
    expect(shared.peek('bob').remaining).toBe(0)
  })

  it('answers for a limiter whose store fails, and complains once', async () => {
    const failing = storeThat(() => Promise.reject(new StoreError('gone')))
    const log: string[] = []
    const logger = { warn: () => undefined, error: (message: string) => log.push(message) }
    const make = (onStoreError: 'open' | 'closed') =>
      createGate<[string]>({
        limiter: createLimiter({ policies: limiter.policies, store: failing }),
        onStoreError,
        logger,
      })
    const open = make('open')
    for (const { refusal, info } of [await open.enter(incoming()), await open.enter(incoming())]) {
      expect([refusal, info.limit]).toEqual([undefined, Number.POSITIVE_INFINITY])
    }
    expect((await make('closed').enter(incoming())).refusal?.status).toBe(503)
    expect(log).toHaveLength(2)
  })

  it('tells an observer of every decision, every answer and every failure', async () => {
    const events: Event[] = []
    const failing = storeThat(() => Promise.reject(new StoreError('gone')))
    const options: Options = {
      limit: 1,
      period: '1m',
      name: 'n',
      observe: (event) => events.push(event),
      logger: { warn() {}, error() {} },
    }
    await createGate<[string]>(options).enter(incoming())
    await createGate<[string]>({ ...options, store: failing }).enter(incoming())
    expect(events).toMatchObject([
      {
        type: 'decided',
        domain: 'n',
        decision: { allowed: true, degraded: false, policies: [{ policy: 'default' }] },
      },
      { type: 'answered', domain: 'n', layer: 'app' },
      { type: 'store-failed' },
      { type: 'decided', domain: 'n', decision: { allowed: true, degraded: true } },
      { type: 'answered' },
    ])
  })

  it('leaves a FallbackStore of the user’s as it is', async () => {
    const fallback = new FallbackStore(
      storeThat(() => new Promise(() => undefined)),
      {
        deadlineMs: 1,
      },
    )
    const gate = createGate<[string]>({
      limit: 1,
      period: '1m',
      name: 'n',
      store: fallback,
      deadlineMs: 60_000,
      onStoreError: 'closed',
    })
    expect((await gate.enter(incoming())).refusal?.status).toBe(503)
  })
})

describe('a gate’s warnings', () => {
  async function warnings(
    options: Options,
    arrivals: Iterable<IncomingRequest<[string]>>,
  ): Promise<string[]> {
    const log: string[] = []
    const gate = createGate<[string]>({
      limit: 1,
      period: '1m',
      logger: { warn: (message) => log.push(message), error() {} },
      ...options,
    })
    for (const each of arrivals) await gate.enter(each)
    return log
  }
  const thousand = (peer: (i: number) => string) =>
    Array.from({ length: 1_005 }, (_, i) => incoming({ peer: peer(i) }))

  it('come once when all requests seem to be one caller’s', async () => {
    expect(
      await warnings(
        {},
        thousand(() => '10.0.0.1'),
      ),
    ).toEqual([expect.stringMatching(/first 1000 requests all came from 10\.0\.0\.1/)])
    expect(
      await warnings(
        {},
        thousand((i) => (i === 998 ? '10.0.0.2' : '10.0.0.1')),
      ),
    ).toEqual([])
  })

  it('come when proxies write another header than the one that is read', async () => {
    const headers = { forwarded: 'for=192.0.2.9' }
    expect(await warnings({ trustProxy: 1 }, [incoming({ headers })])).toEqual([
      expect.stringMatching(/proxyHeader is x-forwarded-for/),
    ])
    expect(await warnings({ trustProxy: 1, proxyHeader: 'forwarded' }, [incoming({ headers })])).toEqual([])
  })

  it('come or not by their names', async () => {
    const forwarded = incoming({ headers: { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.9' } })
    const all = [forwarded, ...thousand(() => '192.0.2.1')]
    const told = async (validate: NonNullable<Options['validate']>) =>
      (await warnings({ validate }, all)).map((text) => /carry ([\w-]+)|(first)/.exec(text)![0])
    expect(await told({})).toEqual(['carry x-forwarded-for', 'first'])
    expect(await told({ xForwardedForHeader: false })).toEqual(['carry forwarded', 'first'])
    expect(await told({ default: false, xForwardedForHeader: true })).toEqual(['carry x-forwarded-for'])
    expect(await told({ oneAddress: false, forwardedHeader: false, creationStack: false })).toEqual([
      'carry x-forwarded-for',
    ])
    expect(await told({ default: false })).toEqual([])
  })

  it('do not come where addresses decide nothing, nor where they are not wanted', async () => {
    const forwarded = [incoming({ headers: { 'x-forwarded-for': '192.0.2.9' } })]
    for (const options of [{ key: () => 'k' }, { validate: false }, { trustProxy: 'none' }]) {
      expect(await warnings(options, forwarded)).toEqual([])
    }
  })
})
