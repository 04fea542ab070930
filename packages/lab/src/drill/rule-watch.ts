import type { OnStoreError } from '@sluice/limiter/decide'
import { AdmissionCount } from '../load/admission-count.ts'
import type { TimedAnswer } from '../load/answer.ts'
import { spanOf } from '../load/faults/subject.ts'
import type { LoadSender } from '../load/http-sender.ts'
import type { RuleCase } from '../load/rules/rule-case.ts'

/** What a rule was seen to do without its store. `open or local`: its limit is too large to see which. */
export type SeenMode = OnStoreError | 'open or local' | 'failed'

/** A limit up to here is used up to look at its rule. */
export const MOST_FILLED = 2_000
/** Requests in a look at a rule with a larger one. */
const FEW_ASKED = 200
/** Beyond what a limit admits, and what comes back while answers come. */
const BEYOND_LIMIT = 10
const ANSWERS_MS = 3_000

/** Asks for one rule, by keys of its own, and remembers the longest decision. */
export class RuleWatch {
  readonly rule: RuleCase
  readonly #senders: readonly LoadSender[]
  readonly #freshKey: () => string
  #asked = 0
  longestMs = 0

  /** @param senders one for each node, which are asked in turn */
  constructor(rule: RuleCase, senders: readonly LoadSender[], freshKey: () => string) {
    this.rule = rule
    this.#senders = senders
    this.#freshKey = freshKey
  }

  freshKey(): string {
    return this.#freshKey()
  }

  async ask(key: string, node: number = this.#asked++): Promise<TimedAnswer> {
    const sender = this.#senders[node % this.#senders.length]!
    const answer = await sender.send(this.rule.request(key))
    this.longestMs = Math.max(this.longestMs, answer.received - answer.sent)
    return answer
  }

  /** All that a new key may have at once, `times` as much, and more. */
  async fill(times = 1): Promise<readonly TimedAnswer[]> {
    const { atOnce, bound } = this.rule
    const beyond = BEYOND_LIMIT + Math.ceil((bound.limit / bound.periodMs) * ANSWERS_MS)
    const key = this.#freshKey()
    const count = atOnce > MOST_FILLED ? FEW_ASKED : times * (atOnce + beyond)
    return Promise.all(Array.from({ length: count }, () => this.ask(key)))
  }

  /** Whether a new key gets what the rule says: no less, and nothing above its bound. */
  async isExact(): Promise<boolean> {
    const answers = await this.fill()
    const count = new AdmissionCount(this.rule.bound)
    for (const answer of answers.toSorted((a, b) => a.received - b.received)) {
      count.asking()
      count[answer.fate](answer)
    }
    const admitted = answers.filter(({ fate }) => fate === 'admitted').length
    const isWhole = answers.every(
      ({ fate, degraded, status }) => fate !== 'failed' && !degraded && status !== 503,
    )
    return isWhole && count.overAtLeast === 0 && admitted >= Math.min(this.rule.atOnce, answers.length)
  }

  /** What the rule does while its store fails; what is decided with the store meanwhile does not count. */
  async mode(): Promise<SeenMode> {
    const nodes = this.#senders.length // each of which may admit as much by itself
    const all = await this.fill(nodes)
    const answers = all.some(({ degraded }) => degraded)
      ? all.filter(({ degraded, status }) => degraded || status === 503)
      : all
    const admitted = answers.filter(({ fate }) => fate === 'admitted').length
    const refused = answers.filter(({ fate }) => fate === 'refused').length
    if (admitted === 0) return refused > 0 ? 'closed' : 'failed'
    if (refused > 0) return 'local'
    const { atOnce, bound } = this.rule
    const returned = (bound.limit / bound.periodMs) * spanOf(answers)
    return answers.length > nodes * (atOnce + returned) ? 'open' : 'open or local'
  }
}
