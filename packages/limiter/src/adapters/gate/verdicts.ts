import type { Decision } from '../../core/decide/decision.ts'
import { ConfigError } from '../../core/errors.ts'
import { ticksOf } from '../../core/time.ts'
import type { Arrival, Native } from './arrival.ts'
import { infoOf, type RateLimitInfo, stricter, together } from './info.ts'
import type { Asked } from './quotas.ts'
import { repliesOf } from './reply.ts'
import type { Settings } from './settings.ts'
import { settlementOf } from './settlement.ts'
import { type Standing, standingOf } from './standing.ts'
import type { Verdict } from './verdict.ts'
import { WaitingRoom } from './waiting-room.ts'

/** Turns decisions into verdicts: with headers, the application's figures, the refusal, the wait. */
export function verdicts<N extends Native>(
  settings: Settings<N>,
): (arrival: Arrival<N>, shown: string | undefined, asked: Asked) => Promise<Verdict> {
  const { wallClock, onLimitReached, logger, tarpit, maxWaiting = 1_000, timers } = settings
  const tarpitMs = tarpitOf(tarpit)
  if (!(Number.isSafeInteger(maxWaiting) && maxWaiting >= 0))
    throw new ConfigError('maxWaiting must be a whole number ≥ 0')
  const room = new WaitingRoom(maxWaiting, timers)
  const replies = repliesOf(settings)
  const settlement = settlementOf(settings)

  return async ({ native, holder }, shown, asked) => {
    let { decision } = asked
    let delayMs = decision.allowed ? decision.delayMs : tarpitMs
    if (delayMs > 0 && !room.enter()) {
      if (decision.allowed) {
        await asked.settle(0)
        decision = outOfTurn(decision)
      }
      delayMs = 0
    }
    const standing = standingOf(holder)
    const info = note(standing, decision, shown, wallClock())
    const refusal = decision.allowed ? undefined : await replies.answerTo(decision, native, info, shown)
    if (refusal !== undefined && info !== undefined) tell(() => onLimitReached?.(...native, info))
    const settle = settlement({ ...asked, decision }, native)
    return {
      ...(refusal === undefined ? undefined : { refusal }),
      ...(info === undefined ? undefined : { info }),
      ...(settle === undefined ? undefined : { settle }),
      exposed: replies.exposed,
      headers: () => (ours(standing, decision) ? replies.headersOf(standing.decision!, shown) : []),
      delayMs,
      async wait(leaving) {
        if (delayMs === 0 || (await room.wait(delayMs, leaving))) return true
        if (decision.allowed) await asked.settle(0)
        return false
      },
    }
  }

  /** A hook's failure is no reason to fail a request. */
  function tell(hook: () => unknown): void {
    const failed = (error: unknown): void =>
      logger.error(`rate limit: onLimitReached failed (${String(error)})`)
    try {
      Promise.resolve(hook()).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Adds a decision to what earlier limiters said, and gives the figures of the strictest so far. */
function note(
  standing: Standing,
  decision: Decision,
  shown: string | undefined,
  nowMs: number,
): RateLimitInfo | undefined {
  const { decision: earlier, info: known } = standing
  standing.decision = earlier === undefined ? decision : together(earlier, decision)
  // Admitted by no quota, or without the store: no figures that mean anything.
  if (decision.policy === '' || (decision.degraded && decision.allowed)) return known
  const info = infoOf(decision, shown, nowMs)
  standing.info =
    known !== undefined && stricter(known.decision, decision, decision.allowed) !== decision ? known : info
  return standing.info
}

/** Once a later limiter has refused, what goes out is that limiter's answer. */
function ours(standing: Standing, own: Decision): boolean {
  return standing.decision!.allowed || !own.allowed
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
