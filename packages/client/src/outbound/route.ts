import type { Key, Keys } from '@sluice/limiter'
import type { Engine, Rule, Step } from '@sluice/limiter/decide'
import { ConfigError } from '@sluice/limiter/errors'
import { checkOptions } from '@sluice/limiter/options'
import { pathMatcher, wildcard } from '@sluice/limiter/rules'
import {
  type CallOptions,
  type Destination,
  modeByPolicyCheck,
  type OnOutboundLimit,
} from './outbound-options.ts'
import type { GivenRequest, OutboundCost } from './outbound-request.ts'

/** A call's part in its limits. */
export interface RoutedCall {
  readonly steps: readonly Step[]
  readonly key: Key | Keys
  readonly cost: OutboundCost | undefined
}

/** A destination made ready. */
export class Route {
  readonly destination: Destination
  readonly domain: string
  /** Absent where the destination has no limits of ours. */
  readonly engine: Engine | undefined
  readonly #origins: readonly ((origin: string) => boolean)[]
  readonly #paths: readonly ((path: string) => boolean)[]
  readonly #rules = new WeakMap<Rule, Rule>()

  /** @throws ConfigError for origins and paths that are none, and for what does not go together */
  constructor(destination: Destination) {
    const { limiter, pipeline, domain = 'outbound', onLimit = 'queue', fallback } = destination
    if (limiter !== undefined && pipeline !== undefined)
      throw new ConfigError('a destination has a limiter or a pipeline, not both', { path: ['pipeline'] })
    const names = limiter === undefined ? rulesOf(pipeline, domain) : Object.keys(limiter.policies)
    if (typeof onLimit !== 'string' && names !== undefined)
      checkOptions(onLimit, modeByPolicyCheck(names), 'onLimit')
    if (fallback === undefined && (onLimit === 'degrade' || Object.values(onLimit).includes('degrade')))
      throw new ConfigError('fallback must be given, for onLimit: degrade', { path: ['fallback'] })
    this.destination = destination
    this.engine = limiter?.engine ?? pipeline?.engine
    this.domain = limiter?.name ?? domain
    this.#origins = listed(destination.origin).map(originMatcher)
    this.#paths = listed(destination.path).map(pathMatcher)
  }

  fits({ origin, pathname }: URL): boolean {
    const fitsOrigin = this.#origins.length === 0 || this.#origins.some((matches) => matches(origin))
    return fitsOrigin && (this.#paths.length === 0 || this.#paths.some((matches) => matches(pathname)))
  }

  /** @throws BadQuestion where the rules cannot read the call */
  callOf(request: GivenRequest, options: CallOptions): RoutedCall {
    const { destination } = this
    const { limiter, pipeline } = destination
    const key = options.key ?? destination.key?.(request) ?? request.url.host
    const cost =
      options.cost ?? (typeof destination.cost === 'function' ? destination.cost(request) : destination.cost)
    const steps =
      limiter?.match(key, cost === undefined ? undefined : { cost }) ??
      pipeline?.match(this.#question(request, options, key, cost)).steps ??
      []
    return { steps: steps.map((step: Step) => this.#outboundStep(step)), key, cost }
  }

  modeOf(policy: string): OnOutboundLimit {
    const { onLimit = 'queue' } = this.destination
    if (typeof onLimit === 'string') return onLimit
    return (Object.hasOwn(onLimit, policy) ? onLimit[policy] : undefined) ?? 'queue'
  }

  #question(
    request: GivenRequest,
    options: CallOptions,
    key: Key | Keys,
    cost: OutboundCost | undefined,
  ): Parameters<NonNullable<Destination['pipeline']>['match']>[0] {
    const { method, url } = request
    return {
      domain: this.domain,
      request: {
        method,
        path: url.pathname,
        host: url.host,
        query: Object.fromEntries(url.searchParams),
        headers: Object.fromEntries(request.headers),
        attributes: {
          ...(typeof key === 'string' ? { key } : undefined),
          ...(typeof cost === 'object' ? cost : undefined),
          ...this.destination.attributes?.(request),
          ...options.attributes,
        },
      },
      ...(typeof cost === 'number' && { cost }),
    }
  }

  /** What is paid for is never let through uncounted: without the store, `open` limits count in this process. */
  #outboundStep(step: Step): Step {
    const { rule } = step
    if (rule.onStoreError !== 'open' || this.engine?.async === false) return step
    let local = this.#rules.get(rule)
    if (local === undefined) {
      local = { ...rule, onStoreError: 'local' }
      this.#rules.set(rule, local)
    }
    return { ...step, rule: local }
  }
}

function listed(texts: string | readonly string[] | undefined): readonly string[] {
  return typeof texts === 'string' ? [texts] : (texts ?? [])
}

function originMatcher(text: string): (origin: string) => boolean {
  if (text.includes('*')) return wildcard(text.toLowerCase())
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname + url.search + url.hash !== '/')
    throw new ConfigError(
      `origin must be such as https://api.example.com, without a path (that is the option path), not ${JSON.stringify(text.slice(0, 80))}`,
      { path: ['origin'] },
    )
  return (other) => other === url.origin
}

/** The names of the rules in force; `undefined` where the domain is not loaded yet. */
function rulesOf(pipeline: Destination['pipeline'], domain: string): readonly string[] | undefined {
  return pipeline
    ?.rules()
    .domains.get(domain)
    ?.limits.map(({ name }) => name)
}
