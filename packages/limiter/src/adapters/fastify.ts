import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { ConfigError } from '../core/errors.ts'
import {
  anything,
  type CallFields,
  checkCall,
  flag,
  func,
  type OptionFields,
  oneOf,
  textCheck,
} from '../core/options.ts'
import { andThenWith } from '../maybe-promise.ts'
import { lowerCase } from '../memoize.ts'
import { MemoryStore } from '../stores/memory.ts'
import { createGate } from './gate/gate.ts'
import {
  anew,
  evaluated,
  incomingRequestOf,
  lookUpPeers,
  type RateLimitInfo,
  type ResponseWriter,
} from './gate/hosts/node-http.ts'
import { checkGateOptions, type OwnFields } from './gate/options/fields.ts'
import { mergedOptions } from './gate/options/merge.ts'
import type { GateOptions } from './gate/options/options.ts'
import { EVALUATION } from './gate/verdict/several-limiters.ts'
import type { Verdict } from './gate/verdict/verdict.ts'

export type { RateLimitInfo }

type FastifyArgs = [FastifyRequest]
type Hook = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'
/** A hook: it answers the request, or calls `done`. Without `done` it returns when the request may go on. */
type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
  done?: () => void,
) => Promise<unknown> | undefined

/** What a route's `config.rateLimit` may say; all else it has from the plugin. */
export interface RouteRateLimit extends GateOptions<FastifyArgs> {
  /** When in a request's life it is decided. Default `onRequest`: before its body is read. */
  readonly hook?: Hook
  /** Routes of one group are limited together. The first states the limits; others name the group, or repeat them. */
  readonly groupId?: string
  /** Makes what is thrown on a refusal by a quota, in place of `message`; the headers are set. */
  readonly errorResponseBuilder?: (request: FastifyRequest, context: RefusalContext) => unknown
}

export interface FastifyRateLimitOptions extends RouteRateLimit {
  /** Limit every route of this scope, by one limiter (default), or only those that ask for it. */
  readonly global?: boolean
}

export interface RefusalContext {
  readonly statusCode: number
  /** Never: who is to be shut out belongs on `denyList`. */
  readonly ban: false
  readonly max: number
  /** Milliseconds until it helps to come again; absent when that is never. */
  readonly ttl: number | undefined
  /** The same in words: `42 seconds`. */
  readonly after: string | undefined
}

/** What a limiter that a handler calls for itself says of a request. */
export interface RateLimitResult {
  /** No limit applied: `max` and `remaining` are infinite. */
  readonly isAllowed: boolean
  readonly isExceeded: boolean
  readonly key: string
  readonly max: number
  readonly remaining: number
  /** Milliseconds until the whole quota is available; `undefined` where nothing refills it. */
  readonly ttl: number | undefined
  readonly info: RateLimitInfo
}

declare module 'fastify' {
  interface FastifyContextConfig {
    rateLimit?: RouteRateLimit | false
  }
  interface FastifyRequest {
    /** The figures of this request, by the limiter that it met last. */
    rateLimit?: RateLimitInfo
  }
  interface FastifyInstance {
    /** A hook that limits, for routes that want another one, and for the 404 handler. */
    rateLimit(options?: RouteRateLimit): Handler
    /** A limiter for handlers to call; it sends nothing. With `increment: false` it only looks. */
    createRateLimit(
      options: RouteRateLimit,
    ): (request: FastifyRequest, call?: { readonly increment?: boolean }) => Promise<RateLimitResult>
  }
}

type OfGate = keyof GateOptions<FastifyArgs>

const OF_ROUTE: OptionFields<Omit<RouteRateLimit, OfGate>> = {
  hook: oneOf('onRequest', 'preParsing', 'preValidation', 'preHandler'),
  groupId: textCheck,
  errorResponseBuilder: func,
}
/** Fastify hands what it reads itself of the options of a plugin on to it. */
const OF_PLUGIN: OptionFields<Omit<FastifyRateLimitOptions, OfGate>> & OwnFields = {
  ...OF_ROUTE,
  global: flag,
  prefix: anything,
  logLevel: anything,
  logSerializers: anything,
}

/**
 * The plugin: limits the routes that its scope declares after it. `request.rateLimit` has the figures.
 * @throws ConfigError, on registration, for invalid options
 * @example
 * await app.register(rateLimit, { limit: 100, period: '15m' })
 * app.post('/pay', { config: { rateLimit: { limit: 3, period: '1m' } } }, pay)
 */
export const rateLimit: FastifyPluginAsync<FastifyRateLimitOptions> = Object.assign(
  async (app: FastifyInstance, options: FastifyRateLimitOptions) => {
    checkGateOptions(options, OF_PLUGIN)
    const { global = true } = options
    const limiters = limitersOf(options)
    const { name: _, ...unnamed } = options
    lookUpPeers(app.server)
    for (const name of ['rateLimit', EVALUATION]) {
      if (!app.hasRequestDecorator(name)) app.decorateRequest(name)
    }
    if (!app.hasDecorator('rateLimit')) {
      app.decorate(
        'rateLimit',
        (own) => (own === undefined ? limiters.general() : limiters.hook(unnamed, checkedRoute(own))).handler,
      )
      app.decorate('createRateLimit', (own) => callable(mergedOptions(unnamed, checkedRoute(own))))
    }
    if (global) limiters.general()
    app.addHook('onRoute', (route) => {
      const own = route.config?.rateLimit
      if (own === false || (own === undefined && !global)) return
      const { hook, handler } =
        own === undefined ? limiters.general() : limiters.route(route, checkedRoute(own))
      const present = route[hook] as Handler | Handler[] | undefined
      Object.assign(route, { [hook]: [...(present === undefined ? [] : [present].flat()), handler] })
    })
  },
  // What fastify-plugin would set: the routes to limit are those of the scope around the plugin.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: '@sluice/limiter' },
)

/** What a limiter that a handler calls for itself takes with a call. */
const CALL: CallFields = new Map([['increment', 'boolean']])

/** Of a route, before it is merged with the options of the plugin. @throws ConfigError */
function checkedRoute(own: RouteRateLimit): RouteRateLimit {
  checkGateOptions(own, OF_ROUTE)
  return own
}

interface FastifyLimiter {
  readonly hook: Hook
  readonly handler: Handler
}

interface FastifyLimiters {
  /** The plugin's own. */
  general(): FastifyLimiter
  hook(options: FastifyRateLimitOptions, own: RouteRateLimit): FastifyLimiter
  route(route: RouteOptions, own: RouteRateLimit): FastifyLimiter
}

/** The limiters of one registration: the plugin's own, one for each route that asks, one for each group. */
function limitersOf(options: FastifyRateLimitOptions): FastifyLimiters {
  let general: FastifyLimiter | undefined
  const groups = new Map<string, { readonly own: RouteRateLimit; readonly limiter: FastifyLimiter }>()
  const routes = new WeakMap<RouteRateLimit, Map<string, FastifyLimiter>>()
  const under = (more: string): object =>
    options.name === undefined ? {} : { name: `${options.name}/${more}` }

  const group = (own: RouteRateLimit, id: string): FastifyLimiter => {
    const known = groups.get(id) ?? {
      own,
      limiter: limiterOf(mergedOptions({ ...options, ...under(`group/${id}`) }, own)),
    }
    groups.set(id, known)
    const other = Object.entries(own).find(
      ([name, value]) => known.own[name as keyof RouteRateLimit] !== value,
    )
    if (other === undefined) return known.limiter
    throw new ConfigError(`the group ${JSON.stringify(id)} has another ${other[0]} already`)
  }
  return {
    general() {
      general ??= limiterOf(options)
      return general
    },
    hook: (base, own) =>
      own.groupId === undefined ? limiterOf(mergedOptions(base, own)) : group(own, own.groupId),
    route(route, own) {
      if (own.groupId !== undefined) return group(own, own.groupId)
      const id = idOf(route)
      const known = routes.get(own) ?? new Map<string, FastifyLimiter>()
      routes.set(own, known)
      const limiter = known.get(id) ?? limiterOf(mergedOptions({ ...options, ...under(id) }, own))
      known.set(id, limiter)
      return limiter
    },
  }
}

/** Names a route. A GET route brings a HEAD route along, with the same config. */
function idOf({ method, url, constraints = {} }: RouteOptions): string {
  const methods = [method].flat().map((each) => (each === 'HEAD' ? 'GET' : each))
  const when = Object.entries(constraints).map(([name, value]) => ` ${name} ${String(value)}`)
  return `${methods} ${url}${when.join('')}`
}

function limiterOf(options: FastifyRateLimitOptions): FastifyLimiter {
  const gate = createGate<FastifyArgs>(options, OF_PLUGIN)
  const { hook = 'onRequest', errorResponseBuilder } = options
  /** The reply, if that is the end of the request. */
  const answered = (verdict: Verdict | undefined, reply: FastifyReply): FastifyReply | undefined => {
    if (verdict === undefined) return reply.hijack()
    const { refusal, info } = verdict
    if (refusal === undefined) return undefined
    if (errorResponseBuilder !== undefined && refusal.byQuota) {
      throw errorResponseBuilder(reply.request, contextOf(refusal.status, info))
    }
    // As bytes: to text Fastify would add a charset, which problem+json does not have.
    return reply.code(refusal.status).type(refusal.type).send(Buffer.from(refusal.text))
  }
  return {
    hook,
    handler(request, reply, done) {
      const verdict = evaluated(gate, incomingRequestOf(request.raw, [request], request), WRITER, reply)
      if (verdict instanceof Promise) return andThenWith(verdict, answered, reply)
      const answer = answered(verdict, reply)
      if (done === undefined) return Promise.resolve(answer)
      if (answer === undefined) done()
      return undefined
    },
  }
}

const WRITER: ResponseWriter<FastifyReply> = {
  response: ({ raw }) => raw,
  setHeader: (reply, name, value) => reply.header(lowerCase(name), value),
  getHeader: (reply, name) => reply.getHeader(name),
}

function contextOf(statusCode: number, { limit, decision }: RateLimitInfo): RefusalContext {
  const ttl = decision.retryAfterMs ?? undefined
  const seconds = ttl === undefined ? undefined : Math.max(1, Math.ceil(ttl / 1_000))
  const after = seconds === undefined ? undefined : `${seconds} second${seconds === 1 ? '' : 's'}`
  return { statusCode, ban: false, max: limit, ttl, after }
}

function callable(options: RouteRateLimit): ReturnType<FastifyInstance['createRateLimit']> {
  const shared =
    options.limiter === undefined ? { name: 'gate', store: new MemoryStore(), ...options } : options
  const counting = createGate<FastifyArgs>(shared, OF_PLUGIN)
  const looking = createGate<FastifyArgs>({ ...shared, cost: 0 }, OF_PLUGIN)
  return async (request, call = {}) => {
    checkCall(call, CALL)
    const { increment = true } = call
    // Whatever else decides the request, each call counts.
    const incoming = anew(incomingRequestOf<FastifyArgs>(request.raw, [request]))
    const { info, refusal } = await (increment ? counting : looking).enter(incoming)
    const { limit, remaining, key, decision } = info
    const isExceeded = refusal !== undefined || (!increment && remaining === 0)
    return {
      isAllowed: refusal === undefined && info.policy === '',
      isExceeded,
      key,
      max: limit,
      remaining,
      ttl: decision.resetAfterMs ?? undefined,
      info,
    }
  }
}
