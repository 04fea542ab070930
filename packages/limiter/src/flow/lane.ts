import type { Decision } from '../core/decide/decision.ts'
import type { Step } from '../core/decide/step.ts'
import type { Due } from './agenda.ts'
import { Heap, type HeapItem } from './heap.ts'
import type { Waiter } from './waiter.ts'

/** Those of one priority, in order of arrival, and the units that they ask of each rule. */
interface Queued {
  first: Waiter | undefined
  last: Waiter | undefined
  readonly units: number[]
}

/** All who wait for the same counters: first come, first served inside a priority. One of them asks at a time. */
export class Lane implements HeapItem {
  place = -1
  readonly id: string
  /** What it needs: states of the store, and what else can hold it back. */
  readonly names: readonly string[]
  readonly flow: string
  /** In the barrier that it waits at: its place in the order there. */
  tag = 0
  size = 0
  /** Asks, or is being looked at. */
  busy = false
  /** Something changed while it asked: a refusal may be out of date. */
  again = false
  barrier: Barrier | undefined = undefined
  /** The barrier where `tag` counts. */
  home: Barrier | undefined = undefined
  /** The last refusal, and when it was, in milliseconds of the clock. */
  refused: Decision | undefined = undefined
  refusedAt = 0
  /** When all who came before have been looked at. */
  looked: Promise<void> | undefined = undefined
  readonly #queues: (Queued | undefined)[] = []
  #sample: readonly Step[]

  constructor(id: string, names: readonly string[], flow: string, steps: readonly Step[]) {
    this.id = id
    this.names = names
    this.flow = flow
    this.#sample = steps
  }

  get head(): Waiter | undefined {
    for (let p = 0; p < this.#queues.length; p++) {
      const first = this.#queues[p]?.first
      if (first !== undefined) return first
    }
    return undefined
  }

  push(waiter: Waiter): void {
    this.#share(waiter)
    this.#queues[waiter.priority] ??= {
      first: undefined,
      last: undefined,
      units: waiter.steps.map(() => 0),
    }
    const queue = this.#queues[waiter.priority]!
    waiter.lane = this
    waiter.before = queue.last
    if (queue.last === undefined) queue.first = waiter
    else queue.last.after = waiter
    queue.last = waiter
    count(queue, waiter.steps, 1)
    this.size++
  }

  remove(waiter: Waiter): void {
    const queue = this.#queues[waiter.priority]!
    if (waiter.before === undefined) queue.first = waiter.after
    else waiter.before.after = waiter.after
    if (waiter.after === undefined) queue.last = waiter.before
    else waiter.after.before = waiter.before
    waiter.before = undefined
    waiter.after = undefined
    waiter.lane = undefined
    count(queue, waiter.steps, -1)
    this.size--
  }

  /** Units of step `i` that all of this priority, or before it, ask for. */
  unitsTo(priority: number, i: number): number {
    let sum = 0
    for (let p = 0; p <= priority && p < this.#queues.length; p++) sum += this.#queues[p]?.units[i] ?? 0
    return sum
  }

  /** In the order in which they are served. */
  *waiters(): Generator<Waiter> {
    for (const queue of this.#queues) {
      let waiter = queue?.first
      while (waiter !== undefined) {
        const next: Waiter | undefined = waiter.after
        yield waiter
        waiter = next
      }
    }
  }

  /** Lists of steps are small objects, which 100,000 waiters need not have each. */
  #share(waiter: Waiter): void {
    const sample = this.#sample
    const { steps } = waiter
    if (steps.every(({ rule, cost }, i) => sample[i]?.rule === rule && sample[i]?.cost === cost))
      waiter.steps = sample
    else this.#sample = steps
  }
}

function count({ units }: Queued, steps: readonly Step[], sign: 1 | -1): void {
  for (let i = 0; i < steps.length; i++) units[i]! += sign * steps[i]!.cost
}

/** Where several processes wait, each is to be served so often when it asks. */
const FEW = 2
const MOST_LOSSES = 16
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
  /** Served since it was last asked for the first time. */
  served = 0
  /** How often others were faster, of late. */
  losses = 0
  readonly #serve: (barrier: Barrier) => void
  readonly #served = new Map<string, number>()
  #now = 0

  constructor(name: string, serve: (barrier: Barrier) => void) {
    this.name = name
    this.#serve = serve
  }

  due(): void {
    this.served = 0
    this.#serve(this)
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

  /**
   * How much longer to wait than it takes, where other processes wait for the same: so that not all of them ask for each
   * unit, of which one gets it. Never so long that what they wait for is full before.
   */
  spreadMs(ms: number, slackMs: number): number {
    if (this.served < FEW) this.losses = Math.min(this.losses + 1, MOST_LOSSES)
    else if (this.served > FEW) this.losses = Math.max(this.losses - 1, 0)
    return Math.min(slackMs, ms * this.losses)
  }

  /** A lane was served: its flow has had so many units. */
  charge(lane: Lane, units: number, weight: number): void {
    this.served++
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
