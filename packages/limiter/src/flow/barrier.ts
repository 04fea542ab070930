import type { Due } from './agenda.ts'
import { Heap } from './heap.ts'
import type { Lane } from './lane.ts'
import type { Turns } from './turns.ts'
import type { Waiter } from './waiter.ts'

/** So many flows are remembered beside those that wait. */
const SPARE_FLOWS = 1_000

/**
 * Whatever has refused a call, such as one counter of a store, and the lanes that wait for it. They are served by
 * priority; inside one fairly between flows, by start-time fair queueing (Goyal, Vin and Cheng, 1996): first the flow
 * that has had the least for its weight.
 */
export class Barrier implements Due {
  place = -1
  /** When it is asked again, in milliseconds of the clock; infinite: when it is opened. */
  at: number = Number.POSITIVE_INFINITY
  readonly isLast = false
  readonly name: string
  readonly lanes: Heap<Lane> = new Heap<Lane>(isBefore)
  /** Whoever was refused last. */
  setBy: Waiter | undefined
  /** Lanes are being served, or one of them asks. */
  busy = false
  readonly #turns: Turns
  readonly #served = new Map<string, number>()
  #now = 0

  constructor(name: string, turns: Turns) {
    this.name = name
    this.#turns = turns
  }

  due(): void {
    this.#turns.serve(this)
  }

  /** A lane that was not served since it was here keeps its place in the order. */
  join(lane: Lane): void {
    lane.barrier = this
    if (lane.home !== this) lane.tag = Math.max(this.#now, this.#tagOf(lane))
    lane.home = this
    this.lanes.put(lane)
  }

  /** The lane that is next. */
  get next(): Lane | undefined {
    for (;;) {
      const lane = this.lanes.first
      if (lane === undefined || this.#tagOf(lane) <= lane.tag) return lane
      lane.tag = this.#tagOf(lane) // another lane of its flow was served
      this.lanes.put(lane)
    }
  }

  leave(lane: Lane): void {
    lane.barrier = undefined
    this.lanes.remove(lane)
  }

  /** A lane was served: its flow has had so many units. */
  charge(lane: Lane, units: number, weight: number): void {
    this.#now = Math.max(this.#now, lane.tag)
    lane.home = undefined
    this.#served.set(lane.flow, lane.tag + units / weight)
    if (this.#served.size <= 2 * this.lanes.size + SPARE_FLOWS) return
    for (const [flow, tag] of this.#served) if (tag <= this.#now) this.#served.delete(flow)
  }

  #tagOf(lane: Lane): number {
    return this.#served.get(lane.flow) ?? 0
  }
}

/** Lanes of a barrier have heads. */
function isBefore(a: Lane, b: Lane): boolean {
  const one = a.head!
  const other = b.head!
  if (one.priority !== other.priority) return one.priority < other.priority
  return a.tag === b.tag ? one.seq < other.seq : a.tag < b.tag
}
