import type { Decision } from '../../core/decide/decision.ts'
import { ConfigError } from '../../core/errors.ts'
import { ticksOf } from '../../core/time.ts'
import type { Arrival, Native } from './arrival.ts'
import { infoOf } from './info.ts'
import type { Logger } from './options.ts'
import type { Quotas } from './quotas.ts'
import { type Answer, repliesOf } from './reply.ts'
import type { Settings } from './settings.ts'
import { settlementOf } from './settlement.ts'
import { type Soon, soon } from './soon.ts'
import { decisionOn, type Standing } from './standing.ts'
import { FREE, type Verdict } from './verdict.ts'
import { WaitingRoom } from './waiting-room.ts'
import type { Caller } from './whose.ts'

/** Turns decisions into verdicts: with headers, the application's figures, the refusal, the wait. */
export function verdicts<N extends Native>(
  settings: Settings<N>,
  quotas: Quotas<N>,
): (arrival: Arrival<N>, standing: Standing, caller: Caller, decision: Decision) => Soon<Verdict> {
  const { wallClock, onLimitReached, logger } = settings
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
  const told = (
    arrival: Arrival<N>,
    standing: Standing,
    shown: string | undefined,
    delayMs: number,
  ): Soon<Verdict> => {
    const decision = standing.decision!
    const { holder, native } = arrival
    const nowMs = wallClock()
    const info = hasFigures(decision) ? infoOf(decision, shown, nowMs) : undefined
    const verdict = {
      refusal: undefined as Answer | undefined,
      info,
      headers: () => replies.headersOf(decisionFor(holder, decision), shown, nowMs),
      exposed: replies.exposed,
      delayMs,
      wait: delayMs === 0 ? FREE.wait : waiting(decision, delayMs),
      settle: settlement(decision, native),
    }
    if (decision.allowed) return verdict
    if (info !== undefined) void tell(() => onLimitReached?.(...native, info), logger)
    return soon(replies.answerTo(decision, native, info, shown, nowMs), (refusal) => {
      verdict.refusal = refusal
      return verdict
    })
  }
  return (arrival, standing, { shown }, decision) => {
    standing.decision = decision
    const delayMs = decision.allowed ? decision.delayMs : tarpitMs
    if (delayMs === 0 || room.enter()) return told(arrival, standing, shown, delayMs)
    if (!decision.allowed) return told(arrival, standing, shown, 0)
    standing.decision = outOfTurn(decision)
    return giveBack(decision).then(() => told(arrival, standing, shown, 0))
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
