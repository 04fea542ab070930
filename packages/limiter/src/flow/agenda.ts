import type { Clock } from '../clock.ts'
import { Heap, type HeapItem } from './heap.ts'
import { startTimer, type Timers } from './timers.ts'

/** Something that happens at an instant. */
export interface Due extends HeapItem {
  /** Milliseconds by the agenda's clock. */
  at: number
  /** Of those at one instant, whatever says `false` comes first. */
  readonly isLast: boolean
  /** Is called once, when the instant has come. */
  due(): void
}

/** Whatever is to happen later, with one timer for all of it. */
export class Agenda {
  readonly #clock: Clock
  readonly #timers: Timers | undefined
  readonly #heap = new Heap<Due>((a, b) => (a.at === b.at ? !a.isLast && b.isLast : a.at < b.at))
  #stop: (() => void) | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #running = false

  constructor(clock: Clock, timers: Timers | undefined) {
    this.#clock = clock
    this.#timers = timers
  }

  /** Milliseconds, by the clock. */
  now(): number {
    return this.#clock.now() / 1_000
  }

  /** Milliseconds until the next that is due; infinite where there is none. */
  get nextInMs(): number {
    return (this.#heap.first?.at ?? Number.POSITIVE_INFINITY) - this.now()
  }

  /** Also for what is there already, to change when. At infinity it is not kept. */
  put(entry: Due, at: number): void {
    entry.at = at
    if (at === Number.POSITIVE_INFINITY) this.#heap.remove(entry)
    else this.#heap.put(entry)
    this.#arm()
  }

  remove(entry: Due): void {
    this.#heap.remove(entry)
    this.#arm()
  }

  /** One timer, for the first. One that would go off too early is left alone, but for an empty agenda. */
  #arm(): void {
    if (this.#running) return
    const at = this.#heap.first?.at ?? Number.POSITIVE_INFINITY
    if (at >= this.#timerAt && at < Number.POSITIVE_INFINITY) return
    this.#stop?.()
    this.#stop = undefined
    this.#timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    const ms = Math.max(0, at - this.now())
    this.#stop = startTimer(
      () => this.#run(),
      ms,
      this.#timers === undefined ? undefined : { timers: this.#timers },
    )
  }

  #run(): void {
    this.#running = true
    this.#stop = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.now()
    for (let first = this.#heap.first; first !== undefined && first.at <= now; first = this.#heap.first) {
      this.#heap.remove(first)
      first.due()
    }
    this.#running = false
    this.#arm()
  }
}
