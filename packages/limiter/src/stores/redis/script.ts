import { integersLua } from '../../core/decide/integers.lua.ts'
import { parameters, type Twin } from '../../core/decide/twin.ts'
import { blocksLua, noBlocksLua, setBlockLua } from './block.lua.ts'
import { cellsLua } from './cells.lua.ts'
import { decideLua } from './decide.lua.ts'
import { decideOneLua } from './decide-one.lua.ts'
import { decideStraightLua, type StraightStep } from './decide-straight.lua.ts'
import { figuresLua, timeLua } from './figures.lua.ts'
import { logLua } from './log.lua.ts'
import { partsLua } from './parts.lua.ts'
import { settleLua } from './settle.lua.ts'
import { sha1 } from './sha1.ts'
import { slotsLua } from './slots.lua.ts'
import { withoutUnused } from './straight.ts'
import { readLua, swapLua } from './swap.lua.ts'

/** A Lua script, and the name under which the server keeps it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** Never `tostring` or `..` on numbers: what they make of one above 10^14 is not that number. */
const WORDS = `
local call, pack, parse, format = redis.call, struct.pack, struct.unpack, string.format
local function whole(n)
  return format('%.0f', n)
end`
const KEEPERS = { cells: cellsLua, log: logLua, slots: slotsLua } as const
const TASKS: Readonly<Record<Task, string>> = { decide: decideLua, settle: settleLua }
const BODIES = {
  decide: ['remaining', 'wait', 'charge', 'delay', 'idle', 'noWindow'],
  settle: ['wait', 'charge', 'idle', 'noWindow', 'refund'],
} as const

export type Task = 'decide' | 'settle'

type Body = keyof typeof parameters

/**
 * Puts a script together of fixed texts: only the twins that it must know, for a server makes all of it anew on
 * each call. What varies from call to call is never written into it.
 * @param twins by the number that a part has
 * @param blocks whether a rule among the parts can block
 */
export function scriptOf(task: Task, twins: ReadonlyMap<number, Twin>, blocks: boolean): Script {
  const keepers = new Set([...twins.values()].map(({ keeps }) => KEEPERS[keeps]))
  if (blocks) keepers.add(cellsLua)
  // One command reads all cells; a log must not be read whole.
  const ahead = task === 'decide' && keepers.size === 1 && keepers.has(cellsLua)
  const texts = `local texts = ${ahead ? "call('MGET', unpack(KEYS))" : '{}'}`
  const programs = [...twins].map(([number, twin]) => {
    const bodies = BODIES[task].filter((name) => twin[name] !== undefined)
    return `do${twin.locals ?? ''}
programs[${number}] = { named = ${twin.keeps === 'slots'}, ${fieldsOf(twin).join(', ')}, ${bodies.map((name) => `${name} = function${bodyOf(twin, name)}`).join(', ')} }
end`
  })
  return named([
    WORDS,
    integersLua,
    ...keepers,
    'local programs = {}',
    ...programs,
    blocks ? blocksLua : noBlocksLua,
    figuresLua,
    partsLua,
    texts,
    TASKS[task],
  ])
}

/** The script that sets or ends a block. */
export function scriptOfBlock(): Script {
  return named([WORDS, integersLua, cellsLua, blocksLua, figuresLua, setBlockLua])
}

/** The scripts that read states as text, and write them where nothing has changed. */
export function scriptToRead(): Script {
  return named([WORDS, integersLua, figuresLua, readLua])
}

export function scriptToSwap(): Script {
  return named([WORDS, integersLua, figuresLua, swapLua])
}

/**
 * The script for a request of one step without a block, of a log or of slots.
 * @param words of the plan that it alone is for; without them a call brings them
 */
export function scriptOfOne(twin: Twin, words?: readonly string[]): Script {
  return named([
    withoutUnused([WORDS, integersLua, KEEPERS[twin.keeps], timeLua, decideOneLua(twin, words)].join('\n')),
  ])
}

/** The script for requests that all have these steps. */
export function scriptOfStraight(steps: readonly StraightStep[], peek: boolean): Script {
  return named([withoutUnused([WORDS, integersLua, timeLua, decideStraightLua(steps, peek)].join('\n'))])
}

function fieldsOf({ keeps, size = 0, extraCount = 0 }: Twin): readonly string[] {
  const kind = { cells: 'Cells', log: 'Log', slots: 'Slots' }[keeps]
  return [
    `load = load${kind}`,
    `save = save${kind}`,
    `size = ${size}`,
    `form = '<${'d'.repeat(size)}'`,
    `extras = ${extraCount}`,
  ]
}

function bodyOf(twin: Twin, name: Body): string {
  return `(${parameters[name]})\n${twin[name]}\nend`
}

function named(texts: readonly string[]): Script {
  const text = texts.join('\n')
  return { text, sha: sha1(text) }
}
