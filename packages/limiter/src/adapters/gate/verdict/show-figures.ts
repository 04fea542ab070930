import type { Decision } from '../../../core/decide/decision.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import { hasFigures, infoOf, type RateLimitInfo, withoutFigures } from './info.ts'
import { type Evaluation, infoUpTo, isLowered } from './several-limiters.ts'

/**
 * Shows the application the figures of a decision. Where no limit applied, those of an earlier limiter of the request
 * stay; without one, the application finds infinite ones: they are never absent.
 * @returns what the application sees from now on
 */
export function showFigures<N extends FrameworkArgs>(
  incoming: IncomingRequest<N>,
  evaluation: Evaluation,
  decision: Decision,
  key: string | undefined,
  nowMs: number,
): RateLimitInfo {
  const { name, before } = evaluation
  let shown = decision
  if (!hasFigures(decision)) {
    const earlier = infoUpTo(before, name)
    if (earlier !== undefined) return earlier
    shown = withoutFigures(decision)
  }
  const info = infoOf(shown, key, nowMs, isLowered(evaluation))
  evaluation.info = info
  if (incoming.show === undefined) (incoming.request as Record<string, unknown>)[name] = info
  else incoming.show(name, info)
  return info
}
