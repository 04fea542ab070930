import { planOf } from '@sluice/limiter/core/decide/algorithms'
import { isLease } from '@sluice/limiter/core/decide/step'
import type { Charge, Store } from '@sluice/limiter/stores/store'
import { type CommitBody, readCancel, readCommit, readNoQuery } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { HttpError } from '../problem.ts'
import type { Charged, ReservationIds, Reserved } from './reservation-id.ts'

/**
 * `POST /v1/commit` settles a reservation at its actual cost, `POST /v1/cancel` gives all of it back: once,
 * whichever comes first. 204, or 410 when there is nothing to settle any more.
 */
export function settleRoutes(app: App, store: Store, ids: ReservationIds, bounds: Bounds): void {
  const settle = async (
    id: string,
    actual: (charges: readonly Charged[]) => readonly number[],
  ): Promise<void> => {
    const reserved = ids.open(id)
    const costs = actual(reserved.charges)
    const changes = reserved.charges.map((charged, i) => changeOf(reserved, charged, costs[i]!))
    if (!(await store.settle(changes, reserved)))
      throw new HttpError(410, 'the reservation is settled already, or over')
  }
  app.post('/v1/commit', async ({ body, query }, reply) => {
    readNoQuery(query)
    const commit = readCommit(body, bounds)
    await settle(commit.id, (charges) => actualCosts(charges, commit))
    return reply.code(204).send()
  })
  app.post('/v1/cancel', async ({ body, query }, reply) => {
    readNoQuery(query)
    await settle(readCancel(body).id, (charges) => charges.map(() => 0))
    return reply.code(204).send()
  })
}

/** A cost that reaches no limit would be lost, and a limit with it: that is a mistake. */
function actualCosts(charges: readonly Charged[], { cost, costs = {} }: CommitBody): number[] {
  if (cost === undefined && Object.keys(costs).length === 0)
    throw new HttpError(400, 'cost or costs is missing')
  const names = charges.map(({ name }) => name)
  const unknown = Object.keys(costs).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new HttpError(
      400,
      `costs: ${JSON.stringify(unknown.slice(0, 100))} was not charged; ${names.join(', ')} were`,
    )
  }
  const unnamed = charges.filter(({ name }) => !Object.hasOwn(costs, name))
  const measured = unnamed.filter(({ costFrom }) => costFrom === 'measure')
  const settled = measured.length > 0 ? measured : unnamed.filter(({ costFrom }) => costFrom === undefined)
  if (cost !== undefined && charges.length > 0 && settled.length === 0) {
    throw new HttpError(400, `every limit charged has a cost of its own: give costs, for ${names.join(', ')}`)
  }
  return charges.map((charged) => {
    if (Object.hasOwn(costs, charged.name)) return costs[charged.name]!
    return cost !== undefined && settled.includes(charged) ? cost : charged.cost
  })
}

function changeOf({ at, degraded }: Reserved, charged: Charged, actual: number): Charge {
  const { name: _name, plan: policy, ...rest } = charged
  const plan = planOf(policy)
  const settled = isLease({ plan }) ? 0 : actual // a lease ends, whatever it cost
  const step = { ...rest, plan, role: 'enforce' as const }
  return { step, at, change: settled - charged.cost, ...(degraded && { degraded }) }
}
