import type { ActualCost } from '../../../core/decide/charges.ts'
import { type Decision, receiptOf } from '../../../core/decide/decision.ts'
import { holdsSlots } from '../../../core/decide/step.ts'
import type { FrameworkArgs, ResponseOutcome } from '../incoming-request.ts'
import type { LimitSource } from '../limits/limit-source.ts'
import type { GateSettings } from '../options/settings.ts'

/** How a request's charge is put right once its outcome is known; `undefined` when nothing depends on that. */
export function settlementOf<N extends FrameworkArgs>(
  settings: GateSettings<N>,
  source: LimitSource<N>,
): ((decision: Decision, args: N) => ((outcome: ResponseOutcome) => Promise<void>) | undefined) | undefined {
  const { skipFailedRequests, skipSuccessfulRequests, settleCost, requestWasSuccessful, logger } = settings
  const byOutcome = skipFailedRequests || skipSuccessfulRequests || settleCost !== undefined
  if (!byOutcome && !source.holds) return undefined

  const actual = async (args: N, outcome: ResponseOutcome): Promise<ActualCost | undefined> => {
    if (skipFailedRequests || skipSuccessfulRequests) {
      const successful = await (requestWasSuccessful?.(...args, outcome) ?? answeredWell(outcome))
      if (successful ? skipSuccessfulRequests : skipFailedRequests) return 0
    }
    return settleCost?.(...args, outcome)
  }
  return (decision, args) => {
    if (!mattersFor(decision, byOutcome)) return undefined
    let settled = false
    return async (outcome) => {
      if (settled) return
      settled = true
      let cost: ActualCost | undefined
      try {
        cost = await actual(args, outcome)
      } catch (error) {
        logger.error(
          `rate limit: the charge of a request stands, since its outcome cannot be determined (${String(error)})`,
        )
      }
      try {
        await source.settle(decision, cost)
      } catch (error) {
        logger.error(`rate limit: the charge of a request could not be settled (${String(error)})`)
      }
    }
  }
}

/** A slot is released when the request ends, however it ends; all else stays charged. */
function holdsSlot(decision: Decision): boolean {
  return receiptOf(decision)?.steps.some(holdsSlots) === true
}

function mattersFor(decision: Decision, byOutcome: boolean): boolean {
  return decision.allowed && (byOutcome || holdsSlot(decision))
}

function answeredWell({ status, aborted }: ResponseOutcome): boolean {
  return !aborted && status !== undefined && status < 400
}
