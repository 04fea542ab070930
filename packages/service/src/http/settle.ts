import { planOf } from '@sluice/limiter/algorithms'
import { isLease } from '@sluice/limiter/core/decide/step'
import type { Charge, Store } from '@sluice/limiter/stores/store'
import type { App } from '../app.ts'
import { HttpError } from '../problem.ts'
import { fields, type Schema, WHOLE } from '../schema.ts'
import type { Charged, ReservationIds, Reserved } from './reservation-id.ts'

interface CancelBody {
  readonly id: string
}

interface CommitBody extends CancelBody {
  /** What it did cost, for limits whose cost is measured; where there are none, for those at the request's cost. */
  readonly cost?: number
  /** By the policy's name, for any. */
  readonly costs?: Readonly<Record<string, number>>
}

const ID: Schema = { type: 'string', description: 'the id of a reservation' }
const COSTS: Schema = {
  type: 'object',
  additionalProperties: WHOLE,
  description: 'an object of policies and their costs',
}

/**
 * `POST /v1/commit` settles a reservation at its actual cost, `POST /v1/cancel` gives all of it back: once,
 * whichever comes first. 204, or 410 when there is nothing to settle any more.
 */
export function settleRoutes(app: App, store: Store, ids: ReservationIds): void {
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
  app.post<{ Body: CommitBody }>(
    '/v1/commit',
    { schema: { querystring: fields({}), body: fields({ id: ID, cost: WHOLE, costs: COSTS }, 'id') } },
    async ({ body }, reply) => {
      await settle(body.id, (charges) => actualCosts(charges, body))
      return reply.code(204).send()
    },
  )
  app.post<{ Body: CancelBody }>(
    '/v1/cancel',
    { schema: { querystring: fields({}), body: fields({ id: ID }, 'id') } },
    async ({ body }, reply) => {
      await settle(body.id, (charges) => charges.map(() => 0))
      return reply.code(204).send()
    },
  )
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
