import { type Context, createContextKey } from '@opentelemetry/api'
import { type Sampler, SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base'
import type { Sampling } from './environment.ts'

const CHOSEN = createContextKey('sluice: this request is recorded')

/** Which requests are recorded; most are not, and those must cost nothing. */
export class RequestSampler {
  readonly #sampling: Sampling
  /** For the SDK, which asks again. */
  readonly sampler: Sampler

  constructor(sampling: Sampling) {
    this.#sampling = sampling
    const byId = new TraceIdRatioBasedSampler(sampling.ratio)
    this.sampler = {
      shouldSample: (context, traceId) =>
        context.getValue(CHOSEN) === true
          ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
          : byId.shouldSample(context, traceId),
      toString: () => 'RequestSampler',
    }
  }

  /**
   * Whether a request may be recorded, before anything is made for it.
   * @param traceparent of the caller, if it sent one: of its flags the lowest bit says whether it is recorded there
   */
  mayRecord(traceparent: string | undefined): boolean {
    const { byParent, ratio } = this.#sampling
    if (traceparent === undefined) return ratio > 0 && (ratio >= 1 || Math.random() < ratio)
    return byParent ? isSampled(traceparent) : ratio > 0
  }

  /** The context of a request that may be recorded: in it, it is; but by the id of a trace where that decides. */
  chosen(caller: Context, continues: boolean): Context {
    return continues && !this.#sampling.byParent ? caller : caller.setValue(CHOSEN, true)
  }
}

/** Flags are two digits, hexadecimal, behind the version, the trace and the span. */
function isSampled(traceparent: string): boolean {
  return Number.parseInt(traceparent.slice(53, 55), 16) % 2 === 1
}
