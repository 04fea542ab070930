import type { Decision } from '../../core/decide/decision.ts'
import { ConfigError } from '../../core/errors.ts'
import { ticksOf } from '../../core/time.ts'
import type { Arrival, Native } from './arrival.ts'
import { infoOf, together } from './info.ts'
import type { Logger } from './options.ts'
import type { Asked } from './quotas.ts'
import { repliesOf } from './reply.ts'
import type { Settings } from './settings.ts'
import { settlementOf } from './settlement.ts'
import { type Soon, soon } from './soon.ts'
import { type Standing, standingOf } from './standing.ts'
import type { Verdict } from './verdict.ts'
import { WaitingRoom } from './waiting-room.ts'

/** Turns decisions into verdicts: with headers, the application's figures, the refusal, the wait. */
export function verdicts<N extends Native>(
  settings: Settings<N>,
): (arrival: Arrival<N>, shown: string | undefined, asked: Asked) => Soon<Verdict> {
  const { wallClock, onLimitReached, logger, tarpit } = settings
  const tarpitMs = tarpitOf(tarpit)
  const room = roomOf(settings)
  const replies = repliesOf(settings)
  const settlement = settlementOf(settings)

  const verdictOf = (
    { native, holder }: Arrival<N>,
    shown: string | undefined,
    asked: Asked,
    delayMs: number,
  ): Soon<Verdict> => {
    const { decision } = asked
    const standing = standingOf(holder)
    standing.decision = standing.decision === undefined ? decision : together(standing.decision, decision)
    const info = hasFigures(decision) ? infoOf(decision, shown, wallClock()) : undefined
    const settle = settlement(asked, native)
    // Without spreads, which would cost more than all else here.
    const verdict: { -readonly [Name in keyof Verdict]: Verdict[Name] } = {
      exposed: replies.exposed,
      headers: () => (ours(standing, decision) ? replies.headersOf(standing.decision!, shown) : []),
      delayMs,
      async wait(leaving) {
        const stayed = delayMs === 0 || (await room.wait(delayMs, leaving))
        if (!stayed) await giveBack(asked, logger)
        return stayed
      },
    }
    if (info !== undefined) verdict.info = info
    if (settle !== undefined) verdict.settle = settle
    if (decision.allowed) return verdict
    if (info !== undefined) void tell(() => onLimitReached?.(...native, info), logger)
    return soon(replies.answerTo(decision, native, info, shown), (refusal) => {
      verdict.refusal = refusal
      return verdict
    })
  }
  return (arrival, shown, asked) => {
    const { decision } = asked
    const delayMs = decision.allowed ? decision.delayMs : tarpitMs
    if (delayMs === 0 || room.enter()) return verdictOf(arrival, shown, asked, delayMs)
    if (!decision.allowed) return verdictOf(arrival, shown, asked, 0)
    const refused = { ...asked, decision: outOfTurn(decision) }
    return giveBack(asked, logger).then(() => verdictOf(arrival, shown, refused, 0))
  }
}

function roomOf<N extends Native>({ maxWaiting = 1_000, timers }: Settings<N>): WaitingRoom {
  if (Number.isSafeInteger(maxWaiting) && maxWaiting >= 0) return new WaitingRoom(maxWaiting, timers)
  throw new ConfigError(`maxWaiting must be a whole number ≥ 0, not ${maxWaiting}`)
}

/** What cannot be given back stays charged: no reason to fail the request. */
async function giveBack({ decision, settle }: Asked, logger: Logger): Promise<void> {
  try {
    if (decision.allowed) await settle(0)
  } catch (error) {
    logger.error(`rate limit: a charge could not be given back (${String(error)})`)
  }
}

/** Nor is a hook's failure. */
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
