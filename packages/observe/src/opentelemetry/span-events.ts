import { type Observer, observerOf } from '@sluice/limiter/events'
import { type DecisionAttributes, decisionAttributes } from './decision-attributes.ts'

/** `trace` of `@opentelemetry/api`, as far as it is used here. */
export interface ActiveSpans {
  getActiveSpan():
    | {
        isRecording(): boolean
        addEvent(
          name: string,
          attributes: DecisionAttributes & Record<string, string | number | boolean>,
        ): unknown
      }
    | undefined
}

/**
 * Adds each decision to the span that is active, as the event `sluice.decision`: a span of its own would cost more
 * than most decisions take. Where no span is recorded, nothing is made.
 * @param trace that of `@opentelemetry/api`
 * @example
 * const limiter = createLimiter({ policies, observe: spanEvents(trace) })
 */
export function spanEvents(trace: ActiveSpans): Observer {
  return observerOf(['decided'], (event) => {
    if (event.type !== 'decided') return
    const span = trace.getActiveSpan()
    if (span?.isRecording())
      span.addEvent('sluice.decision', decisionAttributes(event.domain, event.decision))
  })
}
