import type { Cells, Reading, StatePlan } from './algorithm.ts'
import { type BlockPlan, blockedFor, countRefusal, setBlock } from './block/block.ts'
import { admitted } from './combine.ts'
import { chargeInstant, type Figures, figuresOf, instantOf, inUnits, underBlock } from './figures.ts'
import type { Outcome } from './outcome.ts'
import type { Rule } from './rule.ts'
import type { StateName, Step } from './step.ts'

/** Where one state is, and what it says to the request at hand. */
export interface Slot extends Reading {
  /** Microseconds for which the rule's block still refuses; 0 when it does not. */
  blocked: number
}

/**
 * Where a run gets and keeps states: all that a store has to bring. A state is named by namespace, the plan's kind and
 * key; instants are in microseconds.
 */
export interface States<S extends Slot = Slot> {
  /** So many slots, or more; reused from run to run. */
  slots(count: number): readonly S[]
  /**
   * Points the slot at the state's integers; at {@link NO_CELLS} where there is no state.
   * @param phase microseconds by which this key's time is behind that of others
   */
  find(namespace: string, plan: StatePlan, key: string, now: number, slot: S, phase: number): void
  /** After `find`: the same, with room for one more charge, and a new state of zeros where there is none. */
  place(namespace: string, plan: StatePlan, key: string, now: number, slot: S): void
  /** After the integers that a slot points at were changed: for a store that keeps them in another form. */
  keep?(slot: S): void
}

/** The integers of a key that was never seen. */
export const NO_CELLS: Cells = /* @__PURE__ */ new Float64Array(8)

/** A class, so that all slots of a store have one hidden class (see ARCHITECTURE.md, "Shaped for the engine"). */
export class SlotRecord implements Slot {
  cells: Cells = NO_CELLS
  offset = 0
  last = 0
  now = 0
  ticks = 0
  left = 0
  allowed = false
  delay = 0
  blocked = 0
}

/**
 * A slot that points at no state yet.
 * @example
 * const slots = [newSlot(), newSlot()]
 */
export function newSlot(): Slot {
  return new SlotRecord()
}

/**
 * A state's integers with room for one more charge at `now`: the same ones, or a copy: a larger
 * one, or a smaller one where most of it is not needed any more.
 * @param now in microseconds
 * @example
 * slot.cells = withRoom(plan, held.get(key), now)
 * held.set(key, slot.cells)
 */
export function withRoom(plan: StatePlan, cells: Cells | undefined, now: number): Cells {
  const before = cells ?? new Float64Array(plan.size)
  if (plan.size > 0) return before
  const room = plan.algorithm.room!(plan, before, inUnits(plan, now))
  if (room === before.length) return before
  const other = new Float64Array(room)
  other.set(before.subarray(0, room))
  return other
}

/**
 * Runs the steps of one request at one instant: charges all that admit if the request is admitted, else none. A
 * refused request changes nothing, except that blocks count it. With `peek` nothing is changed at all.
 * @param at the clock's reading, in microseconds
 * @example
 * const states = new LoadedStates(statesOf(steps), [])
 * const { allowed, figures } = run(steps, states, clock.now(), false)
 */
export function run<S extends Slot>(
  steps: readonly Step[],
  states: States<S>,
  at: number,
  peek: boolean,
): Outcome {
  const slots = states.slots(steps.length + 1)
  const spare = slots[steps.length]!
  for (let i = 0; i < steps.length; i++) {
    readState(steps[i]!, slots[i]!, states, at)
    slots[i]!.blocked = blockWait(steps[i]!, spare, states, at)
  }
  const allowed = admitted(steps, slots)
  if (!allowed && !peek) countRefusals(steps, slots, states, at)
  const figures: Figures[] = new Array(steps.length)
  // Two steps may share a state in two roles: what is not charged is read before anything is charged.
  for (let i = 0; i < steps.length; i++) {
    if (!(allowed && !peek && isCharged(steps[i]!, slots[i]!))) figures[i] = answer(steps[i]!, slots[i]!)
  }
  for (let i = 0; i < steps.length; i++) {
    if (figures[i] !== undefined) continue
    charge(steps[i]!, steps[i]!.cost, slots[i]!, states, false)
    figures[i] = answer(steps[i]!, slots[i]!)
  }
  const instants = instantsOf(steps, slots, at)
  return instants === undefined ? { allowed, at, figures } : { allowed, at, figures, instants }
}

/** The instant of each step's charge, where one is not `at`. */
function instantsOf(
  steps: readonly Step[],
  slots: readonly Slot[],
  at: number,
): readonly number[] | undefined {
  let instants: number[] | undefined
  for (let i = 0; i < steps.length; i++) {
    const { rule, phase = 0 } = steps[i]!
    const instant = chargeInstant(rule.plan, slots[i]!) + phase
    if (instant <= at) continue
    instants ??= new Array(steps.length).fill(at)
    instants[i] = instant
  }
  return instants
}

/** A later correction of one step's charge. */
export interface Charge {
  readonly step: Step
  /** When the step was charged: `chargedAt` of outcome.ts, in microseconds. */
  readonly at: number
  /** Above 0: charge so much more, even into debt. Below 0: give so much back, where the charge still counts. */
  readonly change: number
  /** The charge was made without the shared store. */
  readonly degraded?: true
}

/**
 * Corrects charges. @param at the clock's reading, in microseconds
 * @example
 * correct([{ step, at: outcome.at, change: -1 }], states, clock.now()) // gives one unit back
 */
export function correct<S extends Slot>(charges: readonly Charge[], states: States<S>, at: number): void {
  const slot = states.slots(1)[0]!
  for (const { step, at: chargedAt, change } of charges) {
    const { rule, phase = 0, chargeId = 0 } = step
    const { plan } = rule
    if (change > 0 && plan.ceiling === 0) continue // nothing can be in use; what a larger limit left goes on as it was
    readState(step, slot, states, at)
    if (change > 0) charge(step, change, slot, states, true)
    else if (change < 0 && slot.cells !== NO_CELLS) {
      const charged = Math.floor((chargedAt - phase) / plan.unit)
      const { cells, offset, last, now } = slot
      plan.algorithm.refund(plan, cells, offset, last, now, -change, charged, chargeId)
      states.keep?.(slot)
    }
  }
}

/**
 * Refuses a key for so many microseconds, whatever it has used; 0 ends its block.
 * @param at the clock's reading, in microseconds
 * @throws TypeError where the rule has no block
 * @example
 * block({ rule, key: 'ada' }, 60_000_000, states, clock.now()) // for a minute
 */
export function block<S extends Slot>(
  { rule, key }: StateName,
  ticks: number,
  states: States<S>,
  at: number,
): void {
  if (rule.block === undefined) throw cannotBlock(rule)
  const slot = states.slots(1)[0]!
  const now = findBlock(rule.block, rule.namespace, key, slot, states, at)
  if (ticks === 0 && isUnused(slot, rule.block.size)) return
  states.place(rule.namespace, rule.block, key, now, slot)
  setBlock(slot.cells, slot.offset, now, ticks)
  slot.cells[slot.offset] = now
  states.keep?.(slot)
}

/** Whether there is no state, or one that was reset: in process its integers are 0 then. */
function isUnused({ cells, offset }: Slot, size: number): boolean {
  for (let i = 0; i < size; i++) if (cells[offset + i] !== 0) return false
  return true
}

export function cannotBlock({ name }: Rule): TypeError {
  return new TypeError(`the rule ${JSON.stringify(name)} cannot block`)
}

/** Finds the step's state, and what it says to the step's cost. */
function readState<S extends Slot>(
  { rule: { namespace, plan }, key, cost, phase = 0 }: Step,
  slot: S,
  states: States<S>,
  at: number,
): void {
  states.find(namespace, plan, key, at, slot, phase)
  const { cells, offset } = slot
  const ticks = instantOf(cells, offset, at) - phase
  const last = inUnits(plan, cells[offset]! - phase)
  const now = inUnits(plan, ticks)
  const left = plan.algorithm.remaining(plan, cells, offset, last, now)
  const allowed = cost === 0 || cost <= left
  slot.ticks = ticks
  slot.last = last
  slot.now = now
  slot.left = left
  slot.allowed = allowed
  slot.delay =
    allowed && cost > 0 && plan.algorithm.delay !== undefined
      ? plan.algorithm.delay(plan, cells, offset, last, now)
      : 0
}

function charge<S extends Slot>(step: Step, cost: number, slot: S, states: States<S>, raises: boolean): void {
  const { rule, key, phase = 0, chargeId = 0 } = step
  const { plan, namespace } = rule
  const used = slot.ticks + phase
  states.place(namespace, plan, key, used, slot)
  const { cells, offset, now } = slot
  // Read again: a key that shares this state may just have been charged.
  const last = inUnits(plan, cells[offset]! - phase)
  const left = plan.algorithm.remaining(plan, cells, offset, last, now)
  plan.algorithm.charge(plan, cells, offset, last, now, cost, chargeId, left, raises)
  cells[offset] = used
  states.keep?.(slot)
  slot.last = now
  // What no longer fits was cut off at the ceiling.
  slot.left = cost <= left ? left - cost : plan.algorithm.remaining(plan, cells, offset, now, now)
}

function isCharged({ cost }: Step, { allowed }: Slot): boolean {
  return allowed && cost > 0
}

function answer({ rule: { plan }, cost }: Step, slot: Slot): Figures {
  const own = figuresOf(plan, slot, cost)
  return slot.blocked > 0 ? underBlock(own, slot.blocked) : own
}

/** How long the step's block still refuses it. A request that costs nothing is never refused. */
function blockWait<S extends Slot>(
  { rule, key, cost }: Step,
  spare: S,
  states: States<S>,
  at: number,
): number {
  if (rule.block === undefined || cost === 0) return 0
  const now = findBlock(rule.block, rule.namespace, key, spare, states, at)
  return blockedFor(spare.cells, spare.offset, now)
}

/** Points the slot at a block's state. @returns the instant that counts */
function findBlock<S extends Slot>(
  plan: BlockPlan,
  namespace: string,
  key: string,
  slot: S,
  states: States<S>,
  at: number,
): number {
  states.find(namespace, plan, key, at, slot, 0)
  return instantOf(slot.cells, slot.offset, at)
}

/** Lets the blocks of all rules that refused count that, then reads all blocks again. */
function countRefusals<S extends Slot>(
  steps: readonly Step[],
  slots: readonly S[],
  states: States<S>,
  at: number,
): void {
  const spare = slots[steps.length]!
  let counted = false
  for (let i = 0; i < steps.length; i++) {
    const { rule, key } = steps[i]!
    if (rule.block === undefined || rule.block.after === 0 || slots[i]!.allowed) continue
    const now = findBlock(rule.block, rule.namespace, key, spare, states, at)
    states.place(rule.namespace, rule.block, key, now, spare)
    countRefusal(rule.block, spare.cells, spare.offset, now)
    spare.cells[spare.offset] = now
    states.keep?.(spare)
    counted = true
  }
  if (!counted) return
  for (let i = 0; i < steps.length; i++) slots[i]!.blocked = blockWait(steps[i]!, spare, states, at)
}
