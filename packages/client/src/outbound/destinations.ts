import type { Key, Keys } from '@sluice/limiter'
import type { Step } from '@sluice/limiter/decide'
import { Allowance } from './allowance.ts'
import type { CallOptions, OutboundOptions } from './outbound-options.ts'
import type { GivenRequest, OutboundCost } from './outbound-request.ts'
import { Route } from './route.ts'

/** Destinations and keys of which it is remembered what they answered; of more, idle ones are forgotten. */
const MOST_ALLOWANCES = 10_000

/** Where a call goes, and what it asks for there. */
export interface FoundDestination {
  readonly allowance: Allowance
  readonly steps: readonly Step[]
  readonly cost: OutboundCost | undefined
}

/** All destinations, and what each answered to each key. */
export class Destinations {
  readonly #routes: readonly Route[]
  readonly #anywhere = new Route({})
  readonly #allowances = new Map<string, Allowance>()
  readonly #options: OutboundOptions

  /** @throws ConfigError for a destination that is wrong */
  constructor(options: OutboundOptions) {
    this.#options = options
    this.#routes = (options.destinations ?? []).map((destination) => new Route(destination))
  }

  /** @param now milliseconds by the clock of allowances */
  find(request: GivenRequest, options: CallOptions, now: number): FoundDestination {
    const route = this.#routes.find((each) => each.fits(request.url)) ?? this.#anywhere
    const { steps, key, cost } = route.callOf(request, options)
    return { allowance: this.#allowanceOf(route, request.url.origin, key, now), steps, cost }
  }

  #allowanceOf(route: Route, origin: string, key: Key | Keys, now: number): Allowance {
    const flow = textOf(key)
    const name = `${this.#routes.indexOf(route)} ${origin} ${flow}`
    const known = this.#allowances.get(name)
    if (known !== undefined) return known
    const { pace, maxPauseMs = 3_600_000 } = this.#options
    if (this.#allowances.size >= MOST_ALLOWANCES) this.#forget(now)
    const { name: destination = origin } = route.destination
    const allowance = new Allowance({ name, flow, destination, route }, { even: pace === 'even', maxPauseMs })
    this.#allowances.set(name, allowance)
    return allowance
  }

  /** Idle ones, and where there is none the oldest. */
  #forget(now: number): void {
    for (const [name, allowance] of this.#allowances) if (allowance.isIdle(now)) this.#allowances.delete(name)
    if (this.#allowances.size >= MOST_ALLOWANCES)
      this.#allowances.delete(this.#allowances.keys().next().value!)
  }
}

function textOf(key: Key | Keys): string {
  return typeof key === 'string' ? key : JSON.stringify(key)
}
