import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import { NO_CELLS, SlotRecord, type States, withRoom } from '../../core/decide/run.ts'
import { Fingerprint } from '../memory/fingerprint.ts'
import { KEPT_KEYS, Keeps } from '../memory/state-table.ts'
import type { Once, StateName } from '../store.ts'

/** Buckets that keys of one kind of plan share, beyond `maxKeys`. */
const BUCKETS = 64
/** States looked at in each decision, so that those that have expired are deleted; and where there is no room. */
const LOOKS = 4
const LOOKS_FOR_ROOM = 64

/** All states of one namespace and one kind of plan. */
interface Table {
  readonly name: string
  readonly keeps: Keeps
  plan: StatePlan
  /** Keys and buckets of it. */
  held: number
}

/** One key's state, or a bucket that several share. */
interface HeldState {
  readonly table: Table
  readonly cells: Cells
  readonly phase: number
}

class MapSlot extends SlotRecord {
  /** Since `find`. */
  table: Table | undefined = undefined
  /** Microseconds by which the key's time is behind that of others. */
  phase = 0
}

/** All states of a MapStore, and the ids of settled reservations. */
export class MapStates implements States<MapSlot> {
  readonly #maxKeys: number
  readonly #print = new Fingerprint(Math.random)
  readonly #tables = new Map<string, Table>()
  readonly #entries = new Map<string, HeldState>()
  readonly #shared = new Map<string, HeldState>()
  /** Until when ids of settled reservations count, in microseconds. */
  readonly #spent = new Map<string, number>()
  readonly #slots: MapSlot[] = []
  readonly #sweeps = [
    sweeping(this.#entries, (entry, now) => this.#drops(entry, now)),
    sweeping(this.#shared, (entry, now) => this.#drops(entry, now)),
    sweeping(this.#spent, (until, now) => until <= now),
  ]

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#entries.size
  }

  slots(count: number): readonly MapSlot[] {
    while (this.#slots.length < count) this.#slots.push(new MapSlot())
    return this.#slots
  }

  find(namespace: string, plan: StatePlan, key: string, now: number, slot: MapSlot, phase: number): void {
    const table = this.#table(namespace, plan)
    slot.table = table
    slot.phase = phase
    slot.cells = this.#entry(table, this.#print.short(key), now)?.cells ?? NO_CELLS
    slot.offset = 0
  }

  place(_namespace: string, _plan: StatePlan, key: string, now: number, slot: MapSlot): void {
    const { phase } = slot
    const table = slot.table!
    const short = this.#print.short(key)
    const before = this.#entry(table, short, now)
    const cells = withRoom(table.keeps.plan, before?.cells, now)
    if (cells !== before?.cells || phase !== before.phase) this.#keep({ table, cells, phase }, short, now)
    slot.cells = cells
  }

  reset({ rule: { namespace, plan, block }, key }: StateName): void {
    for (const each of [plan, block]) {
      if (each === undefined) continue
      const table = this.#table(namespace, each)
      this.#entry(table, this.#print.short(key), 0)?.cells.fill(0)
    }
  }

  clear(): void {
    for (const each of [this.#tables, this.#entries, this.#shared, this.#spent]) each.clear()
  }

  /** Where there is no room for another id, nothing is settled: what was charged stands. */
  spend({ id, until }: Once, at: number): boolean {
    if (at >= until || this.#spent.has(id)) return false
    if (this.#spent.size >= this.#maxKeys) this.sweep(at, LOOKS_FOR_ROOM)
    if (this.#spent.size >= this.#maxKeys) return false
    this.#spent.set(id, until)
    return true
  }

  /** Looks at a few states, and deletes those that have expired. @param at the clock's reading, in microseconds */
  sweep(at: number, looks: number = LOOKS): void {
    if (this.#entries.size <= Math.min(KEPT_KEYS, this.#maxKeys - 1) && this.#spent.size <= KEPT_KEYS) return
    for (const sweep of this.#sweeps) sweep(looks, at)
  }

  #table(namespace: string, plan: StatePlan): Table {
    const name = `${namespace}\0${plan.kind}`
    const table = this.#tables.get(name) ?? { name, keeps: new Keeps(plan), plan, held: 0 }
    if (table.plan !== plan) table.keeps.use(plan)
    table.plan = plan
    return table
  }

  #entry({ name }: Table, key: string, now: number): HeldState | undefined {
    const own = this.#entries.get(`${name}\0${key}`)
    if (own !== undefined || this.#shared.size === 0) return own
    // Who came when there was no room stays in its bucket for as long as that counts.
    const shared = this.#shared.get(`${name}\0${this.#bucket(key)}`)
    return shared !== undefined && !isOver(shared, now) ? shared : undefined
  }

  #keep(entry: HeldState, key: string, now: number): void {
    const { table } = entry
    const own = `${table.name}\0${key}`
    const bucket = `${table.name}\0${this.#bucket(key)}`
    const hasOwn = this.#entries.has(own)
    const shared = this.#shared.get(bucket)
    const stays = !hasOwn && shared !== undefined && !isOver(shared, now)
    if (!hasOwn && !stays && this.#entries.size >= this.#maxKeys) this.sweep(now, LOOKS_FOR_ROOM)
    const entries = hasOwn || (!stays && this.#entries.size < this.#maxKeys) ? this.#entries : this.#shared
    const name = entries === this.#entries ? own : bucket
    if (!entries.has(name)) table.held++
    entries.set(name, entry)
    this.#tables.set(table.name, table)
  }

  /** Whether a state means nothing any more: to be deleted then. A table without states is nothing to remember. */
  #drops(entry: HeldState, now: number): boolean {
    const { table } = entry
    if (!isOver(entry, now)) return false
    table.keeps.renew(table.plan, now)
    if (--table.held === 0) this.#tables.delete(table.name)
    return true
  }

  #bucket(key: string): number {
    this.#print.of(key)
    return this.#print.low & (BUCKETS - 1)
  }
}

function isOver({ table, cells, phase }: HeldState, now: number): boolean {
  return table.keeps.isOver(cells, 0, now, phase)
}

/** Looks at a few entries of a Map, where it stopped the last time, and deletes those that are over. */
function sweeping<T>(
  entries: Map<string, T>,
  drops: (entry: T, now: number) => boolean,
): (looks: number, now: number) => void {
  let cursor = entries.entries()
  return (looks, now) => {
    for (let i = 0; i < looks; i++) {
      const { value } = cursor.next()
      if (value === undefined) {
        cursor = entries.entries()
        return
      }
      if (drops(value[1], now)) entries.delete(value[0])
    }
  }
}
