import type { Step } from '@sluice/limiter/decide'
import type { DescriptorQuery, Matched, Request } from '@sluice/limiter/rules'
import type { Study } from '../jobs/study.ts'
import type { Fate, Questions } from '../simulate/decider.ts'
import { type RulesOfDomain, SimulateStudy } from '../simulate/simulate-study.ts'
import type { PolicyCounts } from '../simulate/tally.ts'
import { type ChangeCounts, ChangeTally } from './change-tally.ts'

/** What both rulebooks find in a request. */
export interface Both {
  readonly old: Matched
  readonly new: Matched
  /** Method and path. */
  readonly route: string
}

/** What became of a request by each rulebook. */
export interface BothFates {
  readonly old: Fate
  readonly new: Fate
}

/** What came of one rulebook. */
export interface SideCounts {
  readonly denied: number
  readonly policies: PolicyCounts
}

export interface CompareCounts {
  readonly old: SideCounts
  readonly new: SideCounts
  readonly newlyDenied: ChangeCounts
  readonly newlyAdmitted: ChangeCounts
}

/** Decides every request by two rulebooks, each with counters of its own, and counts where they differ. */
export class CompareStudy implements Study<Both, CompareCounts> {
  readonly #old: SimulateStudy
  readonly #new: SimulateStudy
  readonly #onFates: ((fates: BothFates, at: number) => void) | undefined
  #oldDenied = 0
  #newDenied = 0
  readonly #newlyDenied = new ChangeTally()
  readonly #newlyAdmitted = new ChangeTally()

  constructor(
    sides: { readonly old: RulesOfDomain; readonly new: RulesOfDomain },
    descriptors?: Questions['descriptors'],
    onFates?: (fates: BothFates, at: number) => void,
  ) {
    this.#old = new SimulateStudy(sides.old, descriptors)
    this.#new = new SimulateStudy(sides.new, descriptors)
    this.#onFates = onFates
  }

  match(
    request: Request,
    cost: number | undefined,
    recorded: readonly DescriptorQuery[] | undefined,
  ): Both | string {
    const before = this.#old.match(request, cost, recorded)
    const after = this.#new.match(request, cost, recorded)
    if (typeof before === 'string') return before
    return typeof after === 'string' ? after : { old: before, new: after, route: routeOf(request) }
  }

  steps(both: Both): readonly Step[] {
    return [...both.old.steps, ...both.new.steps]
  }

  decide(both: Both, at: number, duration: number): void {
    const was = this.#old.decide(both.old, at, duration)
    const becomes = this.#new.decide(both.new, at, duration)
    this.#onFates?.({ old: was, new: becomes }, at)
    if (!was.allowed) this.#oldDenied++
    if (!becomes.allowed) this.#newDenied++
    if (was.allowed === becomes.allowed) return
    if (was.allowed) this.#newlyDenied.add(becomes.refusedBy!, both.route, at)
    else this.#newlyAdmitted.add(was.refusedBy!, both.route, at)
  }

  result(): CompareCounts {
    return {
      old: { denied: this.#oldDenied, policies: this.#old.result() },
      new: { denied: this.#newDenied, policies: this.#new.result() },
      newlyDenied: this.#newlyDenied.counts,
      newlyAdmitted: this.#newlyAdmitted.counts,
    }
  }
}

function routeOf({ method = '', path = '' }: Request): string {
  return `${method} ${path}`.trim()
}
