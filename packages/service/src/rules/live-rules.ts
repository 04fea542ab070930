import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Observer } from '@sluice/limiter/events'
import {
  type CompiledDomain,
  type CompileOptions,
  compile,
  type Domain,
  descriptorRules,
  limitRules,
  type Rules,
} from '@sluice/limiter/rules'
import { type FileProblem, type LoadOptions, loadRulebook, RulebookError } from '@sluice/rulebook'

/** What a reload came to. */
export type Reload =
  | { readonly result: 'changed' | 'unchanged' }
  | { readonly result: 'refused'; readonly error: Error }

/** Rules that are in force. Instants are milliseconds since the epoch. */
export interface Live {
  readonly rules: Rules
  readonly domains: ReadonlyMap<string, LiveDomain>
  /** Names the content: the same on every node that runs the same rules. */
  readonly version: string
  readonly since: number
}

export interface LiveDomain {
  readonly domain: Domain
  /** Names under which its policies are reported. */
  readonly policies: ReadonlySet<string>
  /** Since when its part of the files has been as it is. */
  readonly since: number
}

/** Why the files, as they are now, are not in force. */
export interface Failure {
  readonly message: string
  readonly problems: readonly FileProblem[]
  /** When a reload first failed since one last worked. */
  readonly since: number
}

export interface LiveRulesOptions {
  readonly paths: readonly string[]
  readonly load: LoadOptions
  readonly compile: CompileOptions
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly observe: Observer
}

/** The rules in force. A rulebook with any mistake changes nothing; counters live in the store, and stay. */
export class LiveRules {
  readonly #options: LiveRulesOptions
  #live: Live | undefined
  #failure: Failure | undefined
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<Reload> | undefined

  constructor(options: LiveRulesOptions) {
    this.#options = options
  }

  get live(): Live | undefined {
    return this.#live
  }

  get failure(): Failure | undefined {
    return this.#failure
  }

  /** One at a time. Whoever asks while one waits shares it: it has read nothing yet. */
  reload(): Promise<Reload> {
    if (this.#next !== undefined) return this.#next
    const next = this.#running.then(() => {
      this.#next = undefined
      return this.#reload()
    })
    this.#next = next
    this.#running = next
    return next
  }

  async #reload(): Promise<Reload> {
    const reload = await this.#load().catch((error: Error): Reload => ({ result: 'refused', error }))
    if (reload.result === 'refused')
      this.#failure = failureOf(reload.error, this.#failure?.since ?? this.#options.now())
    else this.#failure = undefined
    this.#options.observe({ type: 'reloaded', ...reload })
    return reload
  }

  async #load(): Promise<Reload> {
    const { paths, load, compile: compileOptions, now } = this.#options
    const loaded = await loadRulebook(paths, load)
    const version = createHash('sha256').update(JSON.stringify(loaded)).digest('hex').slice(0, 16)
    if (version === this.#live?.version) return { result: 'unchanged' }
    const rules = compile(loaded, compileOptions)
    const since = now()
    const domains = new Map<string, LiveDomain>()
    for (const domain of loaded) {
      const before = this.#live?.domains.get(domain.name)
      domains.set(domain.name, {
        domain,
        policies: reportedNames(rules.domains.get(domain.name)!),
        since: before !== undefined && isDeepStrictEqual(before.domain, domain) ? before.since : since,
      })
    }
    this.#live = { rules, domains, version, since }
    return { result: 'changed' }
  }
}

/** Names under which a domain's policies are reported. */
function reportedNames(domain: CompiledDomain): ReadonlySet<string> {
  return new Set([...limitRules(domain), ...descriptorRules(domain)].map(({ name }) => name))
}

function failureOf(error: Error, since: number): Failure {
  return { message: error.message, problems: error instanceof RulebookError ? error.problems : [], since }
}
