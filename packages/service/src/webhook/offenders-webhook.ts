import type { OffenderList, Offenders } from '@sluice/limiter/offenders'
import { startTimer, type Timers } from '@sluice/limiter/time'
import { keptCounter } from '@sluice/observe/parts'
import type { Registry } from 'prom-client'
import type { Log } from '../app.ts'
import { Turns } from '../turns.ts'
import { NewOffenders, type PostedOffender } from './new-offenders.ts'
import { type WebhookOptions, webhookUrl } from './webhook-options.ts'

const EVERY_MS = 60_000
const MOST = 100
const TIMEOUT_MS = 10_000
/** Keys of one policy that are looked at: more than are counted. */
const MOST_LISTED = 1_000
/** Between two tries: doubled each time, up to the longest. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 300_000

export interface WebhookParts {
  readonly options: WebhookOptions
  readonly offenders: Pick<Offenders, 'list'>
  /** Names of the policies in force. */
  readonly policies: () => Iterable<readonly [domain: string, policy: string]>
  /** A key as it is shown. */
  readonly showKey: (key: string) => string
  readonly log: Log
  readonly timers?: Timers | undefined
  /** From 0 to below 1, so that nodes do not all try again at one time. */
  readonly random?: () => number
}

/**
 * Posts offenders that are new, or refused more often than before, to a URL. One post is on its way at a time, and what
 * could not be posted is found anew at the next try: nothing waits in a queue.
 */
export class OffendersWebhook {
  readonly #parts: WebhookParts
  readonly #url: URL
  readonly #news = new NewOffenders()
  readonly #leaving = new AbortController()
  #stopTimer = (): void => undefined
  #failures = 0
  readonly #posts = { done: 0, failed: 0 }

  /** @throws ConfigError for a URL that it may not be */
  constructor(parts: WebhookParts) {
    this.#parts = parts
    this.#url = webhookUrl(parts.options.url)
  }

  start(): void {
    this.#next(this.#parts.options.everyMs ?? EVERY_MS)
  }

  /** Posts no more, and gives up what is on its way. */
  stop(): void {
    this.#leaving.abort()
    this.#stopTimer()
  }

  report(registry: Registry): void {
    keptCounter([registry], {
      name: 'sluice_offender_posts_total',
      help: 'Posts of offenders to the webhook',
      labelNames: ['result'],
      rows: () => Object.entries(this.#posts).map(([result, count]) => [{ result }, count]),
    })
  }

  #next(ms: number): void {
    if (this.#leaving.signal.aborted) return
    const { timers } = this.#parts
    this.#stopTimer = startTimer(() => void this.#round(), ms, { unref: true, ...(timers && { timers }) })
  }

  async #round(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#parts.options
    const offenders = this.#news.of(await this.#lists(), this.#parts.options.most ?? MOST)
    if (offenders.length === 0) return this.#next(everyMs)
    const failure = await this.#post(offenders)
    if (this.#leaving.signal.aborted) return
    if (failure === undefined) {
      this.#news.posted(offenders)
      this.#posts.done++
      if (this.#failures > 0) this.#parts.log.info('the webhook takes offenders again')
      this.#failures = 0
      this.#next(everyMs)
    } else {
      this.#posts.failed++
      if (this.#failures++ === 0)
        this.#parts.log.warn({ reason: failure.reason }, 'offenders cannot be posted: trying again')
      this.#next(Math.max(this.#pause(), failure.waitMs))
    }
  }

  /** A policy at a time: of many, all lists at once would hold decisions up. */
  async #lists(): Promise<readonly OffenderList[]> {
    const { offenders, policies } = this.#parts
    const turns = new Turns()
    const lists: OffenderList[] = []
    for (const [domain, policy] of policies()) {
      lists.push(...offenders.list({ domain, policy, top: MOST_LISTED }))
      await turns.pause()
    }
    return lists
  }

  /** @returns why it was not taken, and for how long the receiver asks to wait */
  async #post(
    offenders: readonly PostedOffender[],
  ): Promise<{ readonly reason: string; readonly waitMs: number } | undefined> {
    const { options, showKey, timers } = this.#parts
    const late = new AbortController()
    const stopTimer = startTimer(() => late.abort(), options.timeoutMs ?? TIMEOUT_MS, timers && { timers })
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(options.secret !== undefined && { authorization: `Bearer ${options.secret}` }),
        },
        body: JSON.stringify({ offenders: offenders.map((each) => ({ ...each, key: showKey(each.key) })) }),
        redirect: 'manual', // neither keys nor the secret go to where an answer points
        signal: AbortSignal.any([late.signal, this.#leaving.signal]),
      })
      await answer.body?.cancel()
      return answer.ok ? undefined : { reason: `it answers ${answer.status}`, waitMs: waitOf(answer) }
    } catch (error) {
      if (late.signal.aborted) return { reason: 'it does not answer in time', waitMs: 0 }
      const { cause } = error as { readonly cause?: { readonly code?: string } }
      return { reason: cause?.code ?? String(error), waitMs: 0 }
    } finally {
      stopTimer()
    }
  }

  #pause(): number {
    const { random = Math.random } = this.#parts
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
    return longest * (0.5 + random() / 2)
  }
}

/** Milliseconds of `Retry-After`, where it is a number of seconds. */
function waitOf(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after') ?? 0)
  return seconds > 0 ? Math.min(seconds * 1_000, LONGEST_PAUSE_MS) : 0
}
