import type { ServerDuplexStream, status } from '@grpc/grpc-js'
import { startTimer } from '@sluice/limiter/time'
import type { Assigner } from './assigner.ts'
import type { Action, Stream } from './holder.ts'
import { type QuotaResponse, quotaResponseOf, type UsageReports, usagesOf } from './messages.ts'

export type QuotaCall = ServerDuplexStream<UsageReports, QuotaResponse>

/** A number of our own: only types are taken from gRPC here, so that a service without it does not load it. */
const NO_PLACE: status.RESOURCE_EXHAUSTED = 8
/** By which a proxy may say which one it is: initial metadata of its stream. */
const PROXY = 'sluice-proxy'
const PROXY_NAME = /^[ -~]{1,128}$/
/** What was written, and has not left after so many milliseconds, waits for a proxy that does not read. */
const LATE_MS = 100
/** Proxies report every 5 s: a stream without reports for so long is ended, to leave its place to others. */
const SILENT_MS = 120_000

/** Carries one stream of a proxy to the assigner and back. */
export function serveStream(call: QuotaCall, assigner: Assigner): void {
  const stream = new QuotaStream(call)
  if (!assigner.open(stream)) {
    call.emit('error', {
      code: NO_PLACE,
      details: 'the service has as many streams as it may',
    })
    return
  }
  let isOpen = true
  const close = (): void => {
    stopTimer()
    if (isOpen) assigner.close(stream, performance.now())
    isOpen = false
  }
  const end = (): void => {
    close()
    call.end()
  }
  let stopTimer = startTimer(end, SILENT_MS, { unref: true })
  call.on('data', (reports: UsageReports) => {
    if (!isOpen) return
    stopTimer()
    stopTimer = startTimer(end, SILENT_MS, { unref: true })
    assigner.report(stream, reports.domain ?? '', usagesOf(reports), performance.now())
  })
  call.on('end', end)
  for (const event of ['cancelled', 'error', 'close']) call.on(event, close)
}

/** What the assigner knows of a call. */
class QuotaStream implements Stream {
  readonly proxy: string | undefined
  readonly #call: QuotaCall
  /** When each message was written that has not left. */
  readonly #waiting: number[] = []
  #lateUntil = Number.NEGATIVE_INFINITY

  constructor(call: QuotaCall) {
    this.#call = call
    const name = String(call.metadata.get(PROXY)[0] ?? '')
    this.proxy = PROXY_NAME.test(name) ? name : undefined
  }

  readonly busyUntil = (now: number): number => {
    const [oldest = now] = this.#waiting
    return now - oldest > LATE_MS ? now : this.#lateUntil
  }

  readonly send = (actions: readonly Action[]): void => {
    if (!this.#call.writable) return
    this.#waiting.push(performance.now())
    this.#call.write(quotaResponseOf(actions), () => {
      const written = this.#waiting.shift()!
      const now = performance.now()
      if (now - written > LATE_MS) this.#lateUntil = now
    })
  }
}
