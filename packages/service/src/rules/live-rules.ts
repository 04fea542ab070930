import { createHash } from 'node:crypto'
import type { Observer } from '@sluice/limiter/events'
import {
  type CompiledDomain,
  type CompileOptions,
  compileInPieces,
  type Domain,
  descriptorRules,
  limitRules,
  type Rules,
} from '@sluice/limiter/rules'
import {
  type FileProblem,
  type LoadOptions,
  RulebookError,
  type RulebookFiles,
  readRulebook,
} from '@sluice/rulebook'
import { Turns } from '../turns.ts'
import { type LoadRules, loadHere } from './load-rules.ts'

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
  /** Differs when the domain does. */
  readonly digest: string
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
  /** In place of paths: what the rules are read from. */
  readonly read?: (() => RulebookFiles) | undefined
  /** Milliseconds for which nobody may have written to the files. */
  readonly settleMs: number
  readonly load: LoadOptions
  /** Makes rules of the files while others are in force; the first are made in this thread. */
  readonly reload: LoadRules
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
  /** The files that were read last, and what was wrong with them. */
  #read: { readonly digest: string; readonly refusal?: Error } | undefined
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

  /** The first rules. What is wrong with them hears whoever asks, and nobody else. @throws RulebookError, ConfigError */
  async first(): Promise<void> {
    const first = await this.#load()
    if (first.result === 'refused') throw first.error
    this.#options.observe({ type: 'reloaded', ...first })
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
    const { paths, settleMs, read } = this.#options
    const files = read?.() ?? (await readRulebook(paths, { settleMs }))
    const digest = await digestOfFiles(files)
    if (digest !== this.#read?.digest) {
      const reload = await this.#replace(files).catch(
        (error: Error): Reload => ({ result: 'refused', error }),
      )
      this.#read = reload.result === 'refused' ? { digest, refusal: reload.error } : { digest }
      return reload
    }
    const { refusal } = this.#read
    return refusal === undefined ? { result: 'unchanged' } : { result: 'refused', error: refusal }
  }

  async #replace(files: RulebookFiles): Promise<Reload> {
    const { load, reload, compile, now } = this.#options
    const { version, domains: loaded } = await (this.#live === undefined ? loadHere : reload)(files, load)
    if (version === this.#live?.version) return { result: 'unchanged' }
    const models = loaded.map(({ domain }) => domain)
    const { pause } = new Turns(TURN_MS)
    const rules = await compileInPieces(models, pause, compile)
    const since = now()
    const domains = new Map<string, LiveDomain>()
    for (const { domain, digest } of loaded) {
      const before = this.#live?.domains.get(domain.name)
      domains.set(domain.name, {
        domain,
        digest,
        policies: await reportedNames(rules.domains.get(domain.name)!, pause),
        since: before?.digest === digest ? before.since : since,
      })
      await pause()
    }
    this.#live = { rules, domains, version, since }
    return { result: 'changed' }
  }
}

/** Milliseconds of work on new rules, after which requests have their turn. */
const TURN_MS = 3

async function digestOfFiles({ files, problems }: RulebookFiles): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(problems))
  const { pause } = new Turns(TURN_MS)
  for (const { path, bytes } of files) {
    hash.update(`\0${path}\0${bytes.length}\0`).update(bytes)
    await pause()
  }
  return hash.digest('hex')
}

/** Names under which a domain's policies are reported. */
async function reportedNames(domain: CompiledDomain, pause: Turns['pause']): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const rules of [limitRules(domain), descriptorRules(domain)]) {
    for (const { name } of rules) {
      names.add(name)
      const paused = pause()
      if (paused !== undefined) await paused
    }
  }
  return names
}

function failureOf(error: Error, since: number): Failure {
  return { message: error.message, problems: error instanceof RulebookError ? error.problems : [], since }
}
