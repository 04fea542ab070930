import { admitted } from '../../core/decide/combine.ts'
import { chargeInstant, type Figures, figuresFrom, inUnits, underBlock } from '../../core/decide/figures.ts'
import { newSlot } from '../../core/decide/run.ts'
import type { Outcome, Step } from '../store.ts'
import { type Call, callToDecide, type DecideCall, type StepsRequest } from './call.ts'
import type { LuaPrograms } from './lua-programs.ts'
import type { Names } from './names.ts'
import { NO_WINDOW } from './runner.ts'
import type { StoreTime } from './store-time.ts'

/** Integers that answer a step. */
const FIGURES_PER_STEP = 6

/** Requests of any kind, and the figures that decide.lua.ts and decide-one.lua.ts answer. */
export class FiguresCall implements DecideCall {
  readonly call: Call
  readonly length: number
  #place = 1

  constructor(requests: readonly StepsRequest[], names: Names, programs: LuaPrograms, time: StoreTime) {
    this.call = callToDecide(programs, time, names, requests)
    this.length = requests.reduce((sum, { steps }) => sum + answerLength(steps), 1)
  }

  outcomeOf(steps: readonly Step[], _peek: boolean, reply: readonly number[]): Outcome | undefined {
    const from = this.#place
    this.#place += answerLength(steps)
    return reply[from] === NO_WINDOW ? undefined : outcomeFrom(steps, reply, from)
  }
}

function answerLength(steps: readonly Step[]): number {
  let length = 0
  for (const { rule } of steps) length += rule.block === undefined ? FIGURES_PER_STEP : FIGURES_PER_STEP + 1
  return length
}

function outcomeFrom(steps: readonly Step[], reply: readonly number[], from: number): Outcome {
  const at = reply[0]!
  const figures: Figures[] = new Array(steps.length)
  const reading = newSlot()
  let instants: number[] | undefined
  let n = from
  for (let i = 0; i < steps.length; i++) {
    const { rule, phase = 0 } = steps[i]!
    const retry = never(reply[n + 1]!)
    reading.left = reply[n]!
    reading.allowed = retry === 0
    reading.delay = never(reply[n + 4]!)
    reading.ticks = reply[n + 5]! - phase
    reading.now = inUnits(rule.plan, reading.ticks)
    const instant = chargeInstant(rule.plan, reading) + phase
    if (instant > at) {
      instants ??= new Array(steps.length).fill(at)
      instants[i] = instant
    }
    const own = figuresFrom(rule.plan, reading, retry, never(reply[n + 2]!), never(reply[n + 3]!))
    n += FIGURES_PER_STEP
    const blocked = rule.block === undefined ? 0 : reply[n++]!
    figures[i] = blocked > 0 ? underBlock(own, blocked) : own
  }
  const outcome = { allowed: admitted(steps, figures), at, figures }
  return instants === undefined ? outcome : { ...outcome, instants }
}

function never(units: number): number {
  return units < 0 ? Number.POSITIVE_INFINITY : units
}
