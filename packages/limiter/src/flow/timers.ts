import { type CallFields, checkCall } from '../core/options.ts'

/** The platform's timers, or what replaces them in tests. */
export interface Timers {
  setTimeout(go: () => void, ms: number): unknown
  clearTimeout(timer: never): void
}

export interface TimerOptions {
  /** Default: the platform's. */
  readonly timers?: Timers
  /** Lets the process end while this timer runs. */
  readonly unref?: boolean
}

/** What a timer takes. */
const TIMER: CallFields = /* @__PURE__ */ new Map([
  ['timers', 'object'],
  ['unref', 'boolean'],
])

/** The longest wait of the platform's timers, in milliseconds: they count in 32 bits, and anything longer is over at once. */
const LONGEST = 2 ** 31 - 1

/**
 * Calls `go` once, after `ms` milliseconds, rounded up: a wait above 24.8 days is made in parts. All timers of the
 * library are started here.
 * @throws TypeError for options that it does not have
 * @returns stops the timer; without effect once it has gone off
 * @example
 * const stop = startTimer(() => console.log('a month later'), 30 * 86_400_000)
 */
export function startTimer(go: () => void, ms: number, options: TimerOptions = {}): () => void {
  checkCall(options, TIMER)
  const { timers = globalThis as unknown as Timers, unref = false } = options
  let left = Math.ceil(ms)
  let timer: unknown
  const startPart = (): void => {
    const part = Math.min(left, LONGEST)
    left -= part
    timer = timers.setTimeout(left > 0 ? startPart : go, part)
    if (unref) (timer as { unref?(): void }).unref?.()
  }
  startPart()
  return () => timers.clearTimeout(timer as never)
}
