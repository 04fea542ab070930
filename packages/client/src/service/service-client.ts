import { type CallFields, checkCall } from '@sluice/limiter/options'
import type { Question } from '@sluice/limiter/pipeline'
import {
  type AnswerBody,
  answerOf,
  type CommitBody,
  readCommit,
  readQuestion,
  readReserve,
  readReserveAnswer,
  WireError,
} from '@sluice/limiter/wire'
import { Leases } from './leases.ts'
import type { LimitNames, ServiceQuestion } from './limit-names.ts'
import { AskedQuestions } from './questions.ts'
import { Refusals } from './refusals.ts'
import {
  answerWithout,
  type ReservedServiceAnswer,
  type ServiceAnswer,
  serviceAnswerOf,
} from './service-answer.ts'
import { ServiceCalls } from './service-calls.ts'
import {
  checkOnError,
  checkServiceClientOptions,
  type OnServiceError,
  type ServiceClientOptions,
} from './service-client-options.ts'
import { ProblemError, ServiceError } from './service-errors.ts'
import type { AskOptions, ReserveAskOptions, ReservedCosts, ServiceClient } from './service-verbs.ts'
import { untilAborted } from './until-aborted.ts'

/** Text of a question, and the question as it was read. */
interface ReadQuestion {
  /** What it is about, as JSON without the last brace: with a cost behind it, it is the question. */
  readonly subject: string
  readonly cost: number | undefined
  readonly question: Question
}

/** Characters of a question: so that the tables of questions are bounded in bytes too. */
const MOST_REMEMBERED = 4_096

const ASK: CallFields = /* @__PURE__ */ new Map([
  ['signal', 'object'],
  ['onError', 'string'],
])
const RESERVE_ASK: CallFields = /* @__PURE__ */ new Map([...ASK, ['ttlMs', 'number']])

/**
 * A client of `sluice serve`, over `fetch` alone. Questions of one tick travel as one call; a refusal is repeated without
 * asking until it can end; while the service is slow or down, `onError` decides. Nothing is asked twice.
 * @throws ConfigError for invalid options
 * @example
 * const client = createServiceClient({ url: 'http://127.0.0.1:8080', domain: 'shop' })
 * const { allowed, headers } = await client.check({ request: { method: 'POST', path: '/login', ip: '192.0.2.1' } })
 */
export function createServiceClient<
  L extends LimitNames = LimitNames,
  Default extends keyof L & string = never,
>(options: ServiceClientOptions<Default>): ServiceClient<L, Default> {
  checkServiceClientOptions(options)
  return new HttpServiceClient(options) as unknown as ServiceClient<L, Default>
}

class HttpServiceClient implements ServiceClient {
  readonly #options: ServiceClientOptions
  readonly #calls: ServiceCalls
  readonly #checks: AskedQuestions
  readonly #peeks: AskedQuestions
  readonly #refusals: Refusals
  readonly #leases: Leases | undefined
  readonly #now: () => number

  constructor(options: ServiceClientOptions) {
    const { url, token, deadlineMs = 250, breaker = {}, refusals = {}, lease } = options
    const { maxBatch = 1_000, maxInFlight = 8, maxWaiting = 100_000 } = options
    const { fetch = (url, init) => globalThis.fetch(url, init) } = options
    const { observe = () => undefined, now = () => performance.now() } = options
    const base = url.replace(/\/+$/, '')
    const bounds = { maxBatch, maxInFlight, maxWaiting }
    this.#options = options
    this.#now = now
    this.#calls = new ServiceCalls({ base, fetch, token, deadlineMs, breaker, observe, now })
    this.#checks = new AskedQuestions(this.#calls, '/v1/check/batch', bounds)
    this.#peeks = new AskedQuestions(this.#calls, '/v1/check/batch?peek', bounds)
    this.#refusals = new Refusals(refusals, now)
    this.#leases =
      lease &&
      new Leases(
        {
          reserve: (subject, cost, ttlMs) => this.#reserve(`${subject},"cost":${cost},"ttl_ms":${ttlMs}}`),
          commit: (id, cost) => this.commit(id, { cost }),
        },
        lease,
        now,
      )
  }

  async check(question: AnyQuestion, options: AskOptions = {}): Promise<ServiceAnswer> {
    checkCall(options, ASK)
    const asked = this.#read(question)
    return this.#decide(asked, options, false, (wanted) => this.#check(asked, wanted))
  }

  async peek(question: AnyQuestion, options: AskOptions = {}): Promise<ServiceAnswer> {
    checkCall(options, ASK)
    const asked = this.#read(question)
    return this.#decide(asked, options, true, (wanted) => this.#peeks.ask(textOf(asked), wanted))
  }

  async batch(
    questions: readonly AnyQuestion[],
    options: AskOptions = {},
  ): Promise<readonly (ServiceAnswer | WireError | ProblemError)[]> {
    checkCall(options, ASK)
    if (!Array.isArray(questions)) throw new TypeError('questions must be a list')
    return Promise.all(
      questions.map(async (question) => {
        try {
          return await this.check(question, options)
        } catch (error) {
          if (error instanceof WireError || error instanceof ProblemError) return error
          throw error
        }
      }),
    )
  }

  async reserve(question: AnyQuestion, options: ReserveAskOptions = {}): Promise<ReservedServiceAnswer> {
    checkCall(options, RESERVE_ASK)
    const { ttlMs = 60_000 } = options
    const body = this.#withDomain(question)
    readReserve({ ...body, ttl_ms: ttlMs })
    const asked = this.#read(question)
    let id: string | null = null
    const answer = await this.#decide(asked, options, false, async (wanted) => {
      const reserved = await this.#reserve(JSON.stringify({ ...body, ttl_ms: ttlMs }))
      if (wanted()) id = reserved.id
      else void this.cancel(reserved.id).catch(() => undefined) // whoever asked has left
      return reserved
    })
    return { ...answer, id }
  }

  async commit(id: string | null, actual: ReservedCosts): Promise<boolean> {
    return this.#settle('/v1/commit', id, id === null ? undefined : readCommit({ ...actual, id }))
  }

  async cancel(id: string | null): Promise<boolean> {
    return this.#settle('/v1/cancel', id, { id: id ?? '' })
  }

  async close(): Promise<void> {
    await this.#leases?.close()
  }

  #withDomain(question: AnyQuestion): AnyQuestion {
    const { domain = this.#options.domain } = question ?? {}
    return domain === undefined ? question : { ...question, domain }
  }

  /** @throws WireError for what the service would not take */
  #read(question: AnyQuestion): ReadQuestion {
    const { cost, ...body } = this.#withDomain(question) as AnyQuestion & { readonly cost?: number }
    const read = readQuestion(cost === undefined ? body : { ...body, cost })
    return { subject: JSON.stringify(body).slice(0, -1), cost, question: read }
  }

  /** The answer within the deadline, or `onError`'s. */
  async #decide(
    asked: ReadQuestion,
    { signal, onError = this.#options.onError ?? 'open' }: AskOptions,
    peek: boolean,
    ask: (wanted: () => boolean) => Promise<AnswerBody>,
  ): Promise<ServiceAnswer> {
    checkOnError(this.#options, onError)
    signal?.throwIfAborted()
    let wanted = true
    let answer: ServiceAnswer
    try {
      const answered = this.#calls.within(ask(() => wanted))
      answer = serviceAnswerOf(await (signal === undefined ? answered : untilAborted(answered, signal)))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      answer = await this.#without(asked.question, onError, peek)
    } finally {
      wanted = false
    }
    this.#options.observe?.({ type: 'decided', domain: asked.question.domain, decision: answer, peek })
    return answer
  }

  async #check(asked: ReadQuestion, wanted: () => boolean): Promise<AnswerBody> {
    const { observe } = this.#options
    const { subject, cost = 1 } = asked
    const text = textOf(asked)
    const refused = this.#refusals.find(text)
    if (refused !== undefined) {
      observe?.({ type: 'repeated', policy: refused.policy })
      return refused
    }
    const granted = await this.#leases?.grant(subject, cost)
    if (granted !== undefined) {
      observe?.({ type: 'prefetched', policy: granted.policy, cost })
      return granted
    }
    const began = this.#now()
    const answer = await this.#checks.ask(text, wanted)
    if (text.length <= MOST_REMEMBERED) {
      this.#refusals.remember(text, answer, began)
      this.#leases?.heard(subject, answer)
    }
    return answer
  }

  async #without(question: Question, onError: OnServiceError, peek: boolean): Promise<ServiceAnswer> {
    if (onError !== 'local') return answerWithout(onError === 'open', this.#calls.retryInMs)
    const local = this.#options.local!
    const reply = await (peek ? local.peek(question) : local.check(question))
    return { ...serviceAnswerOf(answerOf(reply)), degraded: true }
  }

  async #reserve(body: string): Promise<ReturnType<typeof readReserveAnswer>> {
    return this.#calls.post('/v1/reserve', body, (_, value) => readReserveAnswer(value))
  }

  async #settle(path: string, id: string | null, body: CommitBody | undefined): Promise<boolean> {
    if (id === null) return false
    try {
      await this.#calls.post(path, JSON.stringify(body), () => undefined)
    } catch (error) {
      if (error instanceof ProblemError && error.status === 410) return false
      throw error
    } finally {
      this.#refusals.clear()
    }
    return true
  }
}

type AnyQuestion = ServiceQuestion<LimitNames, string>

/** The question as JSON. */
function textOf({ subject, cost }: ReadQuestion): string {
  return cost === undefined ? `${subject}}` : `${subject},"cost":${cost}}`
}
