import { type Decision, receipt } from '../../core/decide/decision.ts'
import { ConfigError } from '../../core/errors.ts'
import type { Header } from '../../core/respond/dialect.ts'
import { ticksOf } from '../../core/time.ts'
import type { Arrival, Native } from './arrival.ts'
import { infoOf, type RateLimitInfo } from './info.ts'
import type { Logger } from './options.ts'
import type { Quotas } from './quotas.ts'
import { type Answer, type Occasion, type Replies, repliesOf } from './reply.ts'
import type { Settings } from './settings.ts'
import { settlementOf } from './settlement.ts'
import { type Soon, soon } from './soon.ts'
import { decisionOn, type Standing } from './standing.ts'
import type { Verdict } from './verdict.ts'
import { WaitingRoom } from './waiting-room.ts'
import type { Caller } from './whose.ts'

/** Turns decisions into verdicts: with headers, the application's figures, the refusal, the wait. */
export function verdicts<N extends Native>(
  settings: Settings<N>,
  quotas: Quotas<N>,
): (decision: Decision, arrival: Arrival<N>, standing: Standing, caller: Caller) => Soon<Verdict> {
  const { wallClock, onLimitReached, logger } = settings
  // A store of the gate's own has just read the clock that the wall clock goes by.
  const sameClock = settings.store === undefined && settings.limiter === undefined
  const tarpitMs = tarpitOf(settings.tarpit)
  const room = roomOf(settings)
  const replies = repliesOf(settings)
  const settlement = settlementOf(settings, quotas)

  /** What cannot be given back stays charged: no reason to fail the request. */
  const giveBack = async (decision: Decision): Promise<void> => {
    try {
      if (decision.allowed) await quotas.settle(decision, 0)
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
  const refused = ({ native }: Arrival<N>, verdict: Judgement<N>): Soon<Verdict> => {
    const { decision, info } = verdict
    if (info !== undefined) void tell(() => onLimitReached?.(...native, info), logger)
    return soon(replies.answerTo(decision, native, info, verdict), (refusal) => {
      verdict.refusal = refusal
      return verdict
    })
  }
  const told = (
    arrival: Arrival<N>,
    decision: Decision,
    shown: string | undefined,
    delayMs: number,
  ): Soon<Verdict> => {
    const nowMs = wallClock(sameClock ? decision[receipt]?.outcome.at : undefined)
    const verdict = new Judgement(replies, arrival.holder, decision, shown, nowMs, delayMs)
    if (delayMs > 0) verdict.wait = waiting(decision, delayMs)
    if (settlement !== undefined) verdict.settle = settlement(decision, arrival.native)
    return decision.allowed ? verdict : refused(arrival, verdict)
  }
  const crowdedOut = async (
    decision: Decision,
    arrival: Arrival<N>,
    standing: Standing,
    shown: string | undefined,
  ): Promise<Verdict> => {
    const late = outOfTurn(decision)
    standing.decision = late
    await giveBack(decision)
    return told(arrival, late, shown, 0)
  }
  return (decision, arrival, standing, { shown }) => {
    standing.decision = decision
    const delayMs = decision.allowed ? decision.delayMs : tarpitMs
    if (delayMs === 0 || room.enter()) return told(arrival, decision, shown, delayMs)
    if (!decision.allowed) return told(arrival, decision, shown, 0)
    return crowdedOut(decision, arrival, standing, shown)
  }
}

/** A class, so that the headers need no closure. */
class Judgement<N extends Native> implements Verdict, Occasion {
  // Of the first two most verdicts have nothing: to declare them makes no room. As for the others see NodeArrival.
  declare refusal?: Answer
  declare settle?: Verdict['settle']
  declare readonly info: RateLimitInfo | undefined
  declare readonly decision: Decision
  declare readonly shown: string | undefined
  declare private readonly replies: Replies<N>
  declare private readonly holder: object
  declare readonly nowMs: number
  declare readonly delayMs: number

  constructor(
    replies: Replies<N>,
    holder: object,
    decision: Decision,
    shown: string | undefined,
    nowMs: number,
    delayMs: number,
  ) {
    this.info = hasFigures(decision) ? infoOf(decision, shown, nowMs) : undefined
    this.decision = decision
    this.shown = shown
    this.replies = replies
    this.holder = holder
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
    return this.replies.headersOf(decisionFor(this.holder, this.decision), this)
  }
}

function roomOf<N extends Native>({ maxWaiting = 1_000, timers }: Settings<N>): WaitingRoom {
  if (Number.isSafeInteger(maxWaiting) && maxWaiting >= 0) return new WaitingRoom(maxWaiting, timers)
  throw new ConfigError(`maxWaiting must be a whole number ≥ 0, not ${maxWaiting}`)
}

/** A hook's failure is no reason to fail the request either. */
async function tell(hook: () => unknown, logger: Logger): Promise<void> {
  try {
    await hook()
  } catch (error) {
    logger.error(`rate limit: onLimitReached failed (${String(error)})`)
  }
}

/** Not where no quota had a say, or where the request was let in without the store. */
function hasFigures({ policy, degraded, allowed }: Decision): boolean {
  return policy !== '' && !(degraded && allowed)
}

/** What to tell of all decisions on a request. Once a later limiter has refused, what goes out is its answer alone. */
function decisionFor(holder: object, own: Decision): Decision | undefined {
  const all = decisionOn(holder)!
  return all.allowed || !own.allowed ? all : undefined
}

/** Refused because nobody else can be kept waiting: it has its turn when the queue has moved on. */
function outOfTurn(decision: Decision): Decision {
  const { delayMs, policies } = decision
  const refused = { allowed: false, retryAfterMs: delayMs, delayMs: 0 } as const
  return {
    ...decision,
    ...refused,
    policies: policies.map((own) => (own.delayMs > 0 ? { ...own, ...refused } : own)),
  }
}

function tarpitOf(tarpit: number | string | undefined): number {
  if (tarpit === undefined) return 0
  const ms = ticksOf(tarpit) / 1_000
  if (ms > 60_000) throw new ConfigError('tarpit must be one minute at most')
  return ms
}
