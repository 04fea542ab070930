import { ipKey } from '@sluice/limiter/address'
import type { StatedFigures } from '@sluice/limiter/algorithms'
import {
  createEngine,
  type Decision,
  type Engine,
  holdsSlots,
  receiptOf,
  type Step,
} from '@sluice/limiter/decide'
import {
  type DescriptorQuery,
  type Matched,
  matchDescriptors,
  matchRequest,
  type Request,
  type Rules,
} from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { FakeClock } from '@sluice/limiter/testing'
import { Releases } from './releases.ts'

/** How the requests of a log are asked about. */
export interface Questions {
  readonly rules: Rules
  /** One of the rules'. */
  readonly domain: string
  /** Asks by descriptors instead of by request. */
  readonly descriptors?: ((request: Request) => readonly DescriptorQuery[]) | undefined
}

/**
 * What rules find in a request of the past; a text says why it cannot be decided.
 * @param recorded descriptors by which it was asked
 */
export function matchPast(
  { rules, domain, descriptors }: Questions,
  request: Request,
  cost: number | undefined,
  recorded?: readonly DescriptorQuery[],
): Matched | string {
  const queries = recorded ?? descriptors?.(request)
  const matched =
    queries === undefined
      ? matchRequest(rules, domain, withAddress(request), cost)
      : matchDescriptors(rules, domain, queries, cost)
  return matched.problem ?? matched
}

/** Logs may have a name, or `-`, where the client's address is: then nothing is known of it. */
function withAddress(request: Request): Request {
  const { ip, ...rest } = request
  return ip === undefined || ipKey(ip) !== undefined ? request : rest
}

/** What became of a request. */
export interface Fate {
  readonly allowed: boolean
  /** The step that decided, where it was refused. */
  readonly refusedBy: Step | undefined
  /** Rules that share a state are one step. */
  readonly steps: readonly Step[]
  /** Of each step: what it alone says. */
  readonly figures: readonly StatedFigures[]
}

/** Decides requests of the past, each at its own time. */
export class Decider {
  readonly #clock = new FakeClock(0)
  readonly #store = new MemoryStore({ clock: this.#clock, maxBytes: '50%' })
  readonly #engine: Engine<false> = createEngine(this.#store)
  readonly #releases = new Releases<Decision>()

  /**
   * @param at microseconds since the epoch, not before those of earlier calls
   * @param duration microseconds after which its slots are released; below 0: when their time to live is over
   */
  decide(steps: readonly Step[], at: number, duration: number): Fate {
    this.#reach(at)
    // The same as the engine, which makes more of one step than is needed here.
    if (steps.length === 1 && (duration < 0 || !holdsSlots(steps[0]!))) {
      const { allowed, figures } = this.#store.decide(steps, false)
      return { allowed, refusedBy: allowed ? undefined : steps[0], steps, figures }
    }
    const decision = this.#decide(steps, at, duration)
    const { steps: asked, outcome, binding } = receiptOf(decision)!
    return {
      allowed: decision.allowed,
      refusedBy: decision.allowed ? undefined : binding,
      steps: asked,
      figures: outcome.figures,
    }
  }

  /** The same, with all figures. */
  decision(steps: readonly Step[], at: number, duration: number): Decision {
    this.#reach(at)
    return this.#decide(steps, at, duration)
  }

  /** What would be decided, with all figures; nothing is charged. */
  peek(steps: readonly Step[], at: number): Decision {
    this.#reach(at)
    return this.#engine.decide('', steps, true)
  }

  #reach(at: number): void {
    while (this.#releases.next <= at) {
      this.#clock.set(this.#releases.next)
      this.#engine.refund('', this.#releases.take())
    }
    this.#clock.set(at)
  }

  #decide(steps: readonly Step[], at: number, duration: number): Decision {
    const decision = this.#engine.decide('', steps, false)
    if (duration >= 0 && decision.allowed && receiptOf(decision)!.steps.some(holdsSlots))
      this.#releases.add(at + duration, decision)
    return decision
  }
}
