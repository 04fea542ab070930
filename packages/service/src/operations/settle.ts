import { planOf } from '@sluice/limiter/algorithms'
import { type Charge, holdsSlots, ruleOf } from '@sluice/limiter/decide'
import type { Pipeline } from '@sluice/limiter/pipeline'
import { OperationError } from './operation-error.ts'
import type { ReservationIds, ReservedCharge } from './reservation-id.ts'

/** What a reserved request really cost. */
export interface ActualCosts {
  /** For limits whose cost is measured; where there are none, for those at the request's cost. */
  readonly cost?: number | undefined
  /** By the policy's name, for any. */
  readonly costs?: Readonly<Record<string, number>> | undefined
}

/**
 * Settles a reservation at its actual cost; without costs, gives all of it back. Once, whichever comes first. What was
 * charged without the store is settled by the process that charged it: no other has anything to give back.
 * @param node names this process
 * @throws OperationError for an id that is none, costs that reach no limit, and a reservation that is settled or over
 */
export async function settle(
  pipeline: Pipeline<boolean>,
  ids: ReservationIds,
  node: string,
  id: string,
  actual: ActualCosts | undefined,
): Promise<void> {
  const reserved = ids.open(id)
  const { domain, charges, until, degraded } = reserved
  if (degraded !== undefined && degraded !== node)
    throw new OperationError(
      'unknown',
      'another node made the reservation without the store, and only that node can settle it',
    )
  const costs = actual === undefined ? charges.map(() => 0) : costsOf(charges, actual)
  const changes = charges.map((charge, i) => changeOf(charge, costs[i]!, degraded !== undefined))
  if (!(await pipeline.engine.correct(domain, changes, { id: reserved.id, until })))
    throw new OperationError('over', 'the reservation is settled already, or over')
}

/** A cost that reaches no limit would be lost, and a limit with it: that is a mistake. */
function costsOf(charges: readonly ReservedCharge[], { cost, costs = {} }: ActualCosts): number[] {
  if (cost === undefined && Object.keys(costs).length === 0)
    throw new OperationError('invalid', 'cost or costs is missing')
  const names = charges.map(({ name }) => name)
  const unknown = Object.keys(costs).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new OperationError(
      'invalid',
      `costs: ${JSON.stringify(unknown.slice(0, 100))} was not charged; ${names.join(', ')} were`,
    )
  }
  const unnamed = charges.filter(({ name }) => !Object.hasOwn(costs, name))
  const measured = unnamed.filter(({ costFrom }) => costFrom === 'measure')
  const settled = measured.length > 0 ? measured : unnamed.filter(({ costFrom }) => costFrom === undefined)
  if (cost !== undefined && charges.length > 0 && settled.length === 0) {
    throw new OperationError(
      'invalid',
      `every limit charged has a cost of its own: give costs, for ${names.join(', ')}`,
    )
  }
  return charges.map((charge) => {
    if (Object.hasOwn(costs, charge.name)) return costs[charge.name]!
    return cost !== undefined && settled.includes(charge) ? cost : charge.cost
  })
}

function changeOf(reserved: ReservedCharge, actual: number, degraded: boolean): Charge {
  const { name, namespace, onStoreError, policy, at, ...rest } = reserved
  const step = { ...rest, rule: ruleOf(name, namespace, planOf(policy), { onStoreError }) }
  const settled = holdsSlots(step) ? 0 : actual // a slot is released, whatever it cost
  return { step, at, change: settled - reserved.cost, ...(degraded && { degraded }) }
}
