import { AdmissionCount } from '../admission-count.ts'
import type { TimedAnswer } from '../answer.ts'
import type { Finding } from '../faults/fault.ts'
import { checkAnswers } from '../faults/find-faults.ts'
import type { LoadSender } from '../http-sender.ts'
import { openLoop, pauseUntil } from '../open-loop.ts'
import type { RuleCase } from './rule-case.ts'

/** Requests beyond the limit. */
const BEYOND = 20
const STEADY_MS = 4_000
const MOST_STEADY_RATE = 200
/** With a longer period, waits are not tried. */
const MOST_PERIOD_MS = 10_000

export interface TryOptions {
  readonly sender: LoadSender
  /** The share by which less than the bound may be admitted. */
  readonly tolerance: number
  /** Edges of windows further away are not waited for. */
  readonly mostEdgeMs: number
  /** Begins each key. It ends in no digit. */
  readonly prefix: string
  readonly signal: AbortSignal
}

/** What a rule admitted, against its bound. */
export interface RuleResult {
  readonly domain: string
  readonly name: string
  readonly algorithm: string
  /** `limit + 20` at once, by a new key. */
  readonly burst: Admissions
  /** The same across the edge of a window; absent where none comes soon. */
  readonly acrossEdge?: Admissions
  /** Half as fast again as the limit, right after the burst. */
  readonly steady: Admissions
  readonly findings: readonly Finding[]
  /** What breaks the rule's bound, in words; none: it holds. */
  readonly breaches: readonly string[]
}

export interface Admissions {
  readonly asked: number
  readonly admitted: number
  /** Neither admitted nor refused. */
  readonly failed: number
  /** The rule admits no fewer. */
  readonly least: number
  /** Admitted above the bound. */
  readonly overAtLeast: number
  readonly overAtMost: number
  readonly wrongRefusals: number
}

/**
 * Tries each rule: those with keys side by side, then those that all share.
 * @example
 * const results = await tryRules(cases, { sender, tolerance: 0.05, mostEdgeMs: 10_000, prefix: 'a-', signal })
 * results.flatMap(({ breaches }) => breaches)
 */
export async function tryRules(cases: readonly RuleCase[], options: TryOptions): Promise<RuleResult[]> {
  const keyed = cases.filter(({ isKeyed }) => isKeyed)
  const shared = cases.filter(({ isKeyed }) => !isKeyed)
  const base = Math.floor(Math.random() * 30_000) // so that two runs have no address in common
  const results = await Promise.all(keyed.map((each, i) => tryRule(each, base + i * 100, options)))
  for (const each of shared) results.push(await tryRule(each, base + results.length * 100, options))
  return results
}

async function tryRule(subject: RuleCase, base: number, options: TryOptions): Promise<RuleResult> {
  const { signal, prefix } = options
  const { bound, isKeyed, domain, name, algorithm } = subject
  let keys = base
  const freshKey = (): string => `${prefix}${keys++}`
  await awayFromEdge(subject, signal)
  const key = freshKey()
  const first = new Series(subject, key, options)
  const burst = await first.burst(bound.capacity + BEYOND, subject.atOnce)
  const steady = await first.steady()
  const acrossEdge =
    isKeyed && bound.periodMs <= options.mostEdgeMs && !signal.aborted
      ? await acrossEdgeOf(subject, freshKey(), options)
      : undefined
  const findings =
    isKeyed && bound.periodMs <= MOST_PERIOD_MS && subject.atOnce === bound.capacity && !signal.aborted
      ? await checkAnswers({
          stated: bound,
          request: subject.request,
          sender: options.sender,
          signal,
          freshKey,
        })
      : []
  const breaches = [
    ...breachesOf('a burst', burst, options.tolerance),
    ...(acrossEdge === undefined ? [] : breachesOf('a burst across an edge', acrossEdge, options.tolerance)),
    ...breachesOf('a steady load', steady, options.tolerance),
    ...findings.flatMap(({ found, fault, evidence }) => (found ? [`${fault}: ${evidence}`] : [])),
  ]
  return { domain, name, algorithm, burst, ...(acrossEdge && { acrossEdge }), steady, findings, breaches }
}

function breachesOf(what: string, admissions: Admissions, tolerance: number): string[] {
  const { admitted, failed, least, overAtLeast, wrongRefusals } = admissions
  return [
    ...(failed > 0 ? [`${what}: ${failed} were not answered`] : []),
    ...(overAtLeast > 0 ? [`${what}: ${overAtLeast} more than the bound were admitted`] : []),
    ...(admitted < Math.floor(least * (1 - tolerance))
      ? [`${what}: ${admitted} were admitted, where no fewer than ${least} should be`]
      : []),
    ...(wrongRefusals > least * tolerance
      ? [`${what}: ${wrongRefusals} were refused although there was room`]
      : []),
  ]
}

/** One key's answers, counted by the rule's bound. */
class Series {
  readonly #subject: RuleCase
  readonly #key: string
  readonly #options: TryOptions
  readonly #count: AdmissionCount
  /** Of the results before. */
  #wrongRefusals = 0

  constructor(subject: RuleCase, key: string, options: TryOptions) {
    this.#subject = subject
    this.#key = key
    this.#options = options
    this.#count = new AdmissionCount(subject.bound)
  }

  async ask(): Promise<TimedAnswer> {
    this.#count.asking()
    const answer = await this.#options.sender.send(this.#subject.request(this.#key))
    // Another limit may have refused it.
    if (answer.fate === 'refused' && (answer.policy ?? this.#subject.name) !== this.#subject.name)
      this.#count.failed(answer)
    else this.#count[answer.fate](answer)
    return answer
  }

  async burst(asked: number, least: number): Promise<Admissions> {
    const answers = await Promise.all(Array.from({ length: asked }, () => this.ask()))
    return this.result(answers, least)
  }

  async steady(): Promise<Admissions> {
    const { limit, periodMs } = this.#subject.bound
    const rate = Math.min(MOST_STEADY_RATE, Math.max(2, (1_500 * limit) / periodMs))
    const asked = Math.ceil((rate * STEADY_MS) / 1_000)
    const answers: Promise<TimedAnswer>[] = []
    const arrivals = Array.from({ length: asked }, (_, i) => ({ at: (i * 1_000) / rate }))
    await openLoop(arrivals, () => void answers.push(this.ask()), this.#options.signal)
    const demanded = Math.min(limit, (asked * periodMs) / STEADY_MS)
    const least = Math.max(0, Math.floor((demanded * STEADY_MS) / periodMs) - limit)
    return this.result(await Promise.all(answers), least)
  }

  result(answers: readonly TimedAnswer[], least: number): Admissions {
    const { overAtLeast, overAtMost } = this.#count
    const wrongRefusals = this.#count.wrongRefusals - this.#wrongRefusals
    this.#wrongRefusals += wrongRefusals
    const admitted = answers.filter(({ fate }) => fate === 'admitted').length
    const failed = answers.filter(({ fate }) => fate === 'failed').length
    return { asked: answers.length, admitted, failed, least, overAtLeast, overAtMost, wrongRefusals }
  }
}

/** Half before the end of a window, half after it. */
async function acrossEdgeOf(subject: RuleCase, key: string, options: TryOptions): Promise<Admissions> {
  const { periodMs, capacity } = subject.bound
  const series = new Series(subject, key, options)
  const asked = capacity + BEYOND
  const nearMs = Math.min(100, periodMs / 10)
  const answers: TimedAnswer[] = []
  let edge = performance.now() + msToEdge(periodMs)
  if (!subject.aligned) {
    const first = await series.ask() // the key's own window, if any, begins with it
    answers.push(first)
    edge = first.received + periodMs
  } else if (msToEdge(periodMs) < 2 * nearMs) edge += periodMs
  const half = Math.ceil(asked / 2)
  await pauseUntil(edge - nearMs, options.signal)
  answers.push(...(await Promise.all(Array.from({ length: half }, () => series.ask()))))
  await pauseUntil(edge + nearMs / 4, options.signal)
  answers.push(...(await Promise.all(Array.from({ length: asked - half }, () => series.ask()))))
  return series.result(answers, Math.min(subject.atOnce, asked))
}

/** So that a burst lies within one window. */
async function awayFromEdge({ aligned, bound: { periodMs } }: RuleCase, signal: AbortSignal): Promise<void> {
  const toEdge = msToEdge(periodMs)
  if (aligned && toEdge < Math.min(periodMs / 2, 1_000))
    await pauseUntil(performance.now() + toEdge + 20, signal)
}

/** By this machine's clock, which is that of a limiter on loopback. */
function msToEdge(periodMs: number): number {
  return periodMs - (Date.now() % periodMs)
}
