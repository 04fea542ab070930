import { type Decision, decidedAt } from '../../../core/decide/decision.ts'
import { tarpitOf } from '../../../core/decide/rule.ts'
import { ConfigError } from '../../../core/errors.ts'
import type { Header } from '../../../core/respond/dialect.ts'
import { WaitingRoom } from '../../../flow/waiting-room.ts'
import { andThen, type MaybePromise } from '../../../maybe-promise.ts'
import type { Caller } from '../caller/caller-key.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import type { LimitSource } from '../limits/limit-source.ts'
import type { Logger } from '../options/options.ts'
import type { GateSettings } from '../options/settings.ts'
import type { RateLimitInfo } from './info.ts'
import { type Refusal, type Replies, type ReplyContext, repliesOf } from './refusal.ts'
import { settlementOf } from './settlement.ts'
import { decisionOn, type Evaluation } from './several-limiters.ts'
import { showFigures } from './show-figures.ts'
import type { Verdict } from './verdict.ts'

/** Turns decisions into verdicts: with headers, the application's figures, the refusal, the wait. */
export function verdictMaker<N extends FrameworkArgs>(
  settings: GateSettings<N>,
  source: LimitSource<N>,
): (
  decision: Decision,
  incoming: IncomingRequest<N>,
  evaluation: Evaluation,
  caller: Caller,
) => MaybePromise<Verdict> {
  const { wallClock, onLimitReached, partitionKey, logger } = settings
  // A store of the gate's own has just read the clock that the wall clock goes by.
  const sameClock = settings.store === undefined && settings.limiter === undefined
  const tarpitMs = settings.tarpit === undefined ? 0 : tarpitOf(settings.tarpit)
  const room = roomOf(settings)
  const replies = repliesOf(settings)
  const settlement = settlementOf(settings, source)

  /** What cannot be given back stays charged: no reason to fail the request. */
  const giveBack = async (decision: Decision): Promise<void> => {
    try {
      if (decision.allowed) await source.settle(decision, 0)
    } catch (error) {
      logger.error(`rate limit: a charge could not be given back (${String(error)})`)
    }
  }
  const waiting =
    (decision: Decision, delayMs: number): Verdict['wait'] =>
    async (leaving) => {
      const stayed = await room.wait(delayMs, leaving)
      if (!stayed) await giveBack(decision)
      return stayed
    }
  // Apart from what every request runs through: a function that holds closures makes a context each time.
  const refused = ({ args }: IncomingRequest<N>, verdict: VerdictRecord<N>): MaybePromise<Verdict> => {
    const { decision, info } = verdict
    void callHook(() => onLimitReached?.(...args, info), logger)
    return andThen(replies.refusalTo(decision, args, info, verdict), (refusal) => {
      verdict.refusal = refusal
      return verdict
    })
  }
  const verdictFor = (
    incoming: IncomingRequest<N>,
    evaluation: Evaluation,
    shown: string | undefined,
    delayMs: number,
  ): MaybePromise<Verdict> => {
    const decision = evaluation.decision!
    const nowMs = wallClock(sameClock ? decidedAt(decision) : undefined)
    const info = showFigures(incoming, evaluation, decision, shown, nowMs)
    const verdict = new VerdictRecord(replies, incoming.request, decision, info, shown, nowMs, delayMs)
    if (delayMs > 0) verdict.wait = waiting(decision, delayMs)
    if (settlement !== undefined) verdict.settle = settlement(decision, incoming.args)
    return decision.allowed ? verdict : refused(incoming, verdict)
  }
  const crowdedOut = async (
    decision: Decision,
    incoming: IncomingRequest<N>,
    evaluation: Evaluation,
    shown: string | undefined,
  ): Promise<Verdict> => {
    const late = outOfTurn(decision)
    evaluation.decision = late
    await giveBack(decision)
    return verdictFor(incoming, evaluation, shown, 0)
  }
  return (decision, incoming, evaluation, { shown }) => {
    evaluation.decision = decision
    if (partitionKey !== undefined && shown !== undefined)
      evaluation.partitionKey = bytes(partitionKey(shown))
    const delayMs = decision.allowed ? decision.delayMs : tarpitMs
    if (delayMs === 0 || room.enter()) return verdictFor(incoming, evaluation, shown, delayMs)
    if (!decision.allowed) return verdictFor(incoming, evaluation, shown, 0)
    return crowdedOut(decision, incoming, evaluation, shown)
  }
}

/** A class with declared fields (see ARCHITECTURE.md, "Shaped for the engine"), so that headers need no closure. */
class VerdictRecord<N extends FrameworkArgs> implements Verdict, ReplyContext {
  // Of the first two most verdicts have nothing: to declare them makes no room. As for the others see NodeRequest.
  declare refusal?: Refusal
  declare settle?: Verdict['settle']
  declare readonly info: RateLimitInfo
  declare readonly decision: Decision
  declare readonly shown: string | undefined
  declare private readonly replies: Replies<N>
  declare private readonly request: object
  declare readonly nowMs: number
  declare readonly delayMs: number

  constructor(
    replies: Replies<N>,
    request: object,
    decision: Decision,
    info: RateLimitInfo,
    shown: string | undefined,
    nowMs: number,
    delayMs: number,
  ) {
    this.info = info
    this.decision = decision
    this.shown = shown
    this.replies = replies
    this.request = request
    this.nowMs = nowMs
    this.delayMs = delayMs
  }

  wait(): Promise<boolean> {
    return Promise.resolve(true)
  }

  get exposed(): string | undefined {
    return this.replies.exposed
  }

  headers(): readonly Header[] {
    return this.replies.headersOf(decisionFor(this.request, this.decision), this)
  }
}

function bytes(partitionKey: Uint8Array): Uint8Array {
  if (partitionKey instanceof Uint8Array) return partitionKey
  throw new ConfigError(`partitionKey must give a Uint8Array, not ${typeof partitionKey}`)
}

function roomOf<N extends FrameworkArgs>({ maxWaiting = 1_000, timers }: GateSettings<N>): WaitingRoom {
  return new WaitingRoom(maxWaiting, timers)
}

/** A hook's failure is no reason to fail the request either. */
async function callHook(hook: () => unknown, logger: Logger): Promise<void> {
  try {
    await hook()
  } catch (error) {
    logger.error(`rate limit: onLimitReached failed (${String(error)})`)
  }
}

/** All decisions on a request, for headers. Once a later limiter has refused, its answer alone goes out. */
function decisionFor(request: object, own: Decision): Decision | undefined {
  const all = decisionOn(request)!
  return all.allowed || !own.allowed ? all : undefined
}

/** Refused because no more requests can be kept waiting: its turn comes when the queue has moved on. */
function outOfTurn(decision: Decision): Decision {
  const { delayMs, policies } = decision
  const refused = { allowed: false, retryAfterMs: delayMs, delayMs: 0 } as const
  return {
    ...decision,
    ...refused,
    policies: policies.map((own) => (own.delayMs > 0 ? { ...own, ...refused } : own)),
  }
}
