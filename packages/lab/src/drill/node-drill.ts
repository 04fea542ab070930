import { pause } from '../load/open-loop.ts'
import { holdKey } from './held-key.ts'
import type { RuleWatch } from './rule-watch.ts'

const BEFORE_MS = 700
const AFTER_MS = 1_500

/** What happens to one of two nodes. */
export interface NodeEvent {
  readonly name: 'kill' | 'clocks' | 'reload'
  readonly means: string
  /** Before the load begins. */
  prepare?(): Promise<void>
  /** In the middle of it. */
  act(): Promise<void> | void
  /** Requests may fail from then on, as those to a node that is gone. */
  readonly loses?: true
  mend?(): Promise<void>
}

export interface RuleUnderEvent {
  readonly rule: string
  /** Decisions that the rule's bound contradicts, and requests that failed without a reason. */
  readonly wrong: number
  readonly problems: readonly string[]
}

/** Asks both nodes in turn for one key of each rule, while something happens to a node. */
export async function drillNodes(
  event: NodeEvent,
  watches: readonly RuleWatch[],
  signal: AbortSignal,
): Promise<RuleUnderEvent[]> {
  await event.prepare?.()
  const over = new AbortController()
  let lost = false
  const held = watches.map((watch) => holdKey(watch, AbortSignal.any([over.signal, signal]), () => lost))
  await pause(BEFORE_MS, signal)
  lost = event.loses === true
  await event.act()
  await pause(AFTER_MS, signal)
  over.abort()
  const keys = await Promise.all(held)
  await event.mend?.()
  return watches.map(({ rule: { name } }, i) => {
    const { over: above, wrongRefusals, failed } = keys[i]!
    const problems = [
      ...(above > 0 ? [`${above} admitted above the bound`] : []),
      ...(wrongRefusals > 0 ? [`${wrongRefusals} refused although there was room`] : []),
      ...(failed > 0 ? [`${failed} not answered`] : []),
    ]
    return { rule: name, wrong: above + wrongRefusals + failed, problems }
  })
}
