import type { OnStoreError } from '@sluice/limiter/decide'
import { pause } from '../load/open-loop.ts'
import { type HeldKey, holdKey } from './held-key.ts'
import type { Relay } from './relay.ts'
import type { RuleWatch, SeenMode } from './rule-watch.ts'
import type { StoreFailure } from './store-failures.ts'

/** Until the program has noticed the failure. */
const SETTLE_MS = 300
/** Longer than that after a failure, decisions must be exact again. */
const MOST_EXACT_MS = 10_000

/** What one rule did under one failure. */
export interface RuleUnderFailure {
  readonly rule: string
  readonly stated: OnStoreError
  /** Absent where the failure passes before it can be seen. */
  readonly seen?: SeenMode | undefined
  readonly longestMs: number
  /** Admitted to one key above the rule's bound. */
  readonly over: number
  /** From the end of the failure until decisions are exact again; absent: they were not within 10 s. */
  readonly exactAfterMs?: number | undefined
  /** What differs from what the rule states. */
  readonly problems: readonly string[]
}

/** Lets the store fail under load, and mends it. */
export async function drillStore(
  failure: StoreFailure,
  relay: Relay,
  watches: readonly RuleWatch[],
  { failMs, signal }: { readonly failMs: number; readonly signal: AbortSignal },
): Promise<RuleUnderFailure[]> {
  for (const watch of watches) watch.longestMs = 0
  const over = new AbortController()
  const held = watches.map((watch) => holdKey(watch, AbortSignal.any([over.signal, signal])))
  await pause(SETTLE_MS, signal)
  await failure.begin(relay)
  let modes: readonly SeenMode[] | undefined
  if (failure.end !== undefined) {
    await pause(SETTLE_MS, signal)
    modes = await Promise.all(watches.map((watch) => watch.mode()))
    await pause(failMs - SETTLE_MS, signal)
    await failure.end(relay)
  }
  const exact = await Promise.all(watches.map((watch) => untilExact(watch, signal)))
  over.abort()
  const keys = await Promise.all(held)
  return watches.map((watch, i) => resultOf(watch, keys[i]!, modes?.[i], exact[i]))
}

/** @returns milliseconds */
export async function untilExact(watch: RuleWatch, signal: AbortSignal): Promise<number | undefined> {
  const start = performance.now()
  while (performance.now() - start < MOST_EXACT_MS && !signal.aborted) {
    const asked = performance.now()
    if (await watch.isExact()) return asked - start
    await pause(20, signal)
  }
  return undefined
}

function resultOf(
  { rule, longestMs }: RuleWatch,
  { over, degraded, degradedAdmissions }: HeldKey,
  mode: SeenMode | undefined,
  exactAfterMs: number | undefined,
): RuleUnderFailure {
  const stated = rule.onStoreError
  const seen =
    mode ?? (stated === 'closed' && degraded > 0 ? (degradedAdmissions > 0 ? 'open' : 'closed') : undefined)
  const fits = seen === undefined || seen === stated || (seen === 'open or local' && stated !== 'closed')
  const problems = [
    ...(fits ? [] : [`stated ${stated}, found ${seen}`]),
    ...(stated === 'closed' && over > 0 ? [`stated closed, and admitted ${over} above its bound`] : []),
    ...(exactAfterMs === undefined ? ['not exact within 10 s after the failure'] : []),
  ]
  return { rule: rule.name, stated, seen, longestMs, over, exactAfterMs, problems }
}
