import type { Decision, Step } from '@sluice/limiter/decide'
import type { Question } from '@sluice/limiter/pipeline'
import { Decider, matchPast, type Questions } from '../simulate/decider.ts'
import type { TrafficOptions } from '../simulate/simulate-traffic.ts'
import type { LineOptions } from '../traffic/line-maker.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'

/** How the past is replayed. */
export interface PastOptions extends TrafficOptions, Questions {}

/** A request of the past, and what rules find in it. */
export interface PastRequest {
  readonly question: Question
  /** As they were matched: those that share a state may be several. */
  readonly steps: readonly Step[]
}

/** A request of the past, decided anew. */
export interface PastDecision extends PastRequest {
  /** Microseconds since the epoch. */
  readonly at: number
  /** Microseconds that it took; −1: not known. */
  readonly duration: number
  readonly decision: Decision
}

/**
 * Decides every request of the past at its own time, one after the other.
 * @param counts what became of the lines
 * @throws LabError for traffic that cannot be read
 * @example
 * for await (const { at, decision } of pastDecisions(sourcesOf(['record.jsonl*']), { rules, domain: 'shop' })) …
 */
export async function* pastDecisions(
  sources: readonly TrafficSource[],
  { rules, domain, descriptors, ...traffic }: PastOptions,
  counts: ReadCounts = new ReadCounts(),
): AsyncGenerator<PastDecision> {
  const questions: Questions = { rules, domain, descriptors }
  const decider = new Decider()
  const options: LineOptions<PastRequest> = {
    ...traffic,
    domain,
    make(request, cost, recorded) {
      const found = matchPast(questions, request, cost, recorded)
      if (typeof found === 'string') return found
      const queries = recorded ?? descriptors?.(request)
      const asked = queries === undefined ? { request } : { descriptors: queries }
      return { question: { domain, ...asked, ...(cost !== undefined && { cost }) }, steps: found.steps }
    },
  }
  for await (const { length, at, duration, made } of readTraffic(sources, options, counts)) {
    for (let i = 0; i < length; i++) {
      const decision = decider.decision(made[i]!.steps, at[i]!, duration[i]!)
      yield { ...made[i]!, at: at[i]!, duration: duration[i]!, decision }
    }
  }
}
