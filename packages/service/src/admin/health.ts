import { planOf } from '@sluice/limiter/algorithms'
import { ruleOf, type Step } from '@sluice/limiter/decide'
import type { Store } from '@sluice/limiter/stores/store'
import type { App } from '../app.ts'
import type { Stores } from '../stores.ts'

/** Why the service should be sent no requests, none when it should; and what is not as it should be. */
export type Readiness = () => Promise<{
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
}>

/** `/healthz`: the process answers. `/readyz`: it should be sent requests, or 503 and why not. */
export function healthRoutes(app: App, readiness: Readiness): void {
  app.get('/healthz', { config: { open: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { open: true } }, async (_request, reply) => {
    const { reasons, warnings } = await readiness()
    const ready = reasons.length === 0
    return reply.code(ready ? 200 : 503).send({ ready, reasons, warnings })
  })
}

/** A look at a counter that nothing ever charges. */
const PROBE: Step = {
  rule: ruleOf('ready', 'sluice/ready', planOf({ algorithm: 'fixed-window', limit: 1, period: 'second' })),
  key: '',
  cost: 0,
}
const PROBE_MS = 1_000
/** Failures after which a breaker opens, at most, for it to be opened by looking alone. */
const MOST_LOOKS = 20

/**
 * Whether the store fails, as its breaker says: what the gauge, the log and `/readyz` go by. It is looked at first, until
 * it answers or the breaker has opened, some times at most, so that the breaker knows where nobody else asks the store.
 */
export async function storeFails({ store, fallback }: Stores): Promise<boolean> {
  if (fallback === undefined) return !(await answers(store))
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    if ((await answers(store)) || fallback.state !== 'closed') break
  }
  return fallback.state !== 'closed'
}

/** Whether the store answers, within a second. */
async function answers(store: Store): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), PROBE_MS)
  })
  const look = async (): Promise<boolean> => (await store.decide([PROBE], true)).degraded !== true
  return Promise.race([look().catch(() => false), late]).finally(() => clearTimeout(timer))
}
