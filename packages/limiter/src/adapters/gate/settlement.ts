import type { Decision } from '../../core/decide/decision.ts'
import type { Native, Outcome } from './arrival.ts'
import type { ActualCost } from './options.ts'
import { holdsLease, type Quotas } from './quotas.ts'
import type { Settings } from './settings.ts'

/** How a request's charge is put right once its outcome is known; `undefined` when nothing depends on that. */
export function settlementOf<N extends Native>(
  settings: Settings<N>,
  quotas: Quotas<N>,
): ((decision: Decision, native: N) => ((outcome: Outcome) => Promise<void>) | undefined) | undefined {
  const { skipFailedRequests, skipSuccessfulRequests, settleCost, requestWasSuccessful, logger } = settings
  const byOutcome = skipFailedRequests || skipSuccessfulRequests || settleCost !== undefined
  if (!byOutcome && !quotas.leases) return undefined

  const actual = async (native: N, outcome: Outcome): Promise<ActualCost | undefined> => {
    if (skipFailedRequests || skipSuccessfulRequests) {
      const successful = await (requestWasSuccessful?.(...native, outcome) ?? answeredWell(outcome))
      if (successful ? skipSuccessfulRequests : skipFailedRequests) return 0
    }
    return settleCost?.(...native, outcome)
  }
  return (decision, native) => {
    if (!mattersFor(decision, byOutcome)) return undefined
    let settled = false
    return async (outcome) => {
      if (settled) return
      settled = true
      let cost: ActualCost | undefined
      try {
        cost = await actual(native, outcome)
      } catch (error) {
        logger.error(
          `rate limit: the charge of a request stands, since its outcome cannot be told (${String(error)})`,
        )
      }
      try {
        await quotas.settle(decision, cost)
      } catch (error) {
        logger.error(`rate limit: the charge of a request could not be settled (${String(error)})`)
      }
    }
  }
}

function mattersFor(decision: Decision, byOutcome: boolean): boolean {
  return decision.allowed && (byOutcome || holdsLease(decision))
}

function answeredWell({ status, aborted }: Outcome): boolean {
  return !aborted && status !== undefined && status < 400
}
