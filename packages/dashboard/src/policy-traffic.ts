import {
  decisionsOf,
  type LivePolicy,
  type LiveRow,
  type LiveSecond,
  type PolicySecond,
  policyId,
} from '@sluice/observe/live'
import type { AdminApi } from './admin-api.ts'
import { byId } from './element.ts'

const SECONDS = 900

/** The requests of one limit, second by second, where one is chosen in place of all. */
export class PolicyTraffic {
  readonly #api: AdminApi
  readonly #changed: () => void
  readonly #select = byId<HTMLSelectElement>('traffic-policy')
  /** Of the chosen limit; `undefined` where all requests are shown. */
  rows: readonly LiveRow[] | undefined

  /** @param changed is called when other rows are to be shown */
  constructor(api: AdminApi, changed: () => void) {
    this.#api = api
    this.#changed = changed
    this.#select.addEventListener('change', () => void this.refresh())
  }

  /** Reads the seconds that are over. */
  async refresh(): Promise<void> {
    const id = this.#select.value
    if (id === '') this.rows = undefined
    else {
      const [domain, policy] = JSON.parse(id) as [string, string]
      const { seconds } = await this.#api.get(`v1/spikes?${new URLSearchParams({ domain, policy })}`)
      if (this.#select.value !== id) return // another one was chosen meanwhile
      this.rows = (seconds as readonly PolicySecond[]).map(rowOfPolicy)
    }
    this.#changed()
  }

  /** Takes the second that has ended. */
  add({ at, policies }: LiveSecond): void {
    if (this.rows === undefined || (this.rows.at(-1)?.[0] ?? 0) >= at) return
    const own = policies.find((policy) => policyId(policy) === this.#select.value)
    this.rows = [...this.rows.slice(1 - SECONDS), rowOfPolicy(secondOf(at, own))]
  }
}

function secondOf(at: number, policy: LivePolicy | undefined): PolicySecond {
  if (policy === undefined) return [at, 0, 0, 0]
  const demand = decisionsOf(policy)
  return [at, demand, demand - policy.limited - policy.degraded, policy.limited]
}

/** What was decided without the store is neither admitted nor refused by the limit: it is drawn apart. */
function rowOfPolicy([at, demand, admitted, refused]: PolicySecond): LiveRow {
  return [at, demand - refused, refused, demand - admitted - refused, null, null, null]
}
