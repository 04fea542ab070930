import type { AdapterUnderTest } from './adapter/bench.ts'
import { callers } from './adapter/callers.ts'
import { everyOutcome } from './adapter/every-outcome.ts'
import { failures } from './adapter/failures.ts'
import { figures } from './adapter/figures.ts'
import { outcomes } from './adapter/outcomes.ts'
import { refusals } from './adapter/refusals.ts'
import { rulebooks } from './adapter/rulebooks.ts'
import { waits } from './adapter/waits.ts'
import type { Runner } from './runner.ts'

export {
  type AdapterUnderTest,
  type Application,
  type Listening,
  served,
} from './adapter/bench.ts'

/**
 * What every adapter must show, over real sockets. Time stands still, and waits end, as the tests say.
 * @example
 * adapterSuite({ describe, it }, 'Koa', {
 *   header: ([ctx], name) => ctx.get(name),
 *   info: ([ctx]) => ctx.state.rateLimit,
 *   listen: (options, application) => served(appOf(options, application).callback()),
 * })
 */
export function adapterSuite(runner: Runner, name: string, adapter: AdapterUnderTest): void {
  runner.describe(`${name}, as any adapter`, () => {
    refusals(runner, adapter)
    figures(runner, adapter)
    callers(runner, adapter)
    outcomes(runner, adapter)
    failures(runner, adapter)
    waits(runner, adapter)
    rulebooks(runner, adapter)
    everyOutcome(runner, adapter)
  })
}
