import { createHash } from 'node:crypto'
import { integersLua } from '../../core/decide/integers.lua.ts'
import { parameters, type Twin } from '../../core/decide/twin.ts'
import { cellsLua } from './cells.lua.ts'
import { decideLua } from './decide.lua.ts'
import { leasesLua } from './leases.lua.ts'
import { logLua } from './log.lua.ts'
import { requestLua } from './request.lua.ts'
import { settleLua } from './settle.lua.ts'

/** A Lua script, and the name under which the server keeps it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** Never `tostring` or `..`: what they make of a number above 10^14 is not that number. */
const WORDS = `
local call, pack, parse, format = redis.call, struct.pack, struct.unpack, string.format
local function whole(n)
  return format('%.0f', n)
end`
const KEEPERS = { cells: cellsLua, log: logLua, leases: leasesLua } as const
const LAWS = {
  decide: ['remaining', 'wait', 'charge', 'delay', 'refuse', 'lost'],
  settle: ['remaining', 'wait', 'charge', 'refund', 'lost'],
} as const

/**
 * Puts a script together of fixed texts: only the laws it is asked to know, for a server builds all of it anew on
 * each call. What varies from call to call is never written into it.
 * @param twins by the number that a part says
 */
export function scriptOf(task: keyof typeof LAWS, twins: ReadonlyMap<number, Twin>): Script {
  const keepers = new Set([...twins.values()].map(({ keeps }) => KEEPERS[keeps]))
  const laws = [...twins].map(([number, twin]) => lawOf(number, twin, LAWS[task]))
  const text = [
    WORDS,
    integersLua,
    ...keepers,
    'local laws = {}',
    ...laws,
    requestLua,
    task === 'decide' ? decideLua : settleLua,
  ].join('\n')
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

function lawOf(number: number, twin: Twin, names: readonly (keyof typeof parameters)[]): string {
  const { keeps, size = 0, locals = '', extraCount = 0 } = twin
  const fields = [
    `load = ${keeps}.load`,
    `save = ${keeps}.save`,
    `size = ${size}`,
    `format = '<${'d'.repeat(size)}'`,
    `extras = ${extraCount}`,
    `named = ${keeps === 'leases'}`,
    ...names.flatMap((name) =>
      twin[name] === undefined ? [] : [`${name} = function(${parameters[name]})\n${twin[name]}\nend`],
    ),
  ]
  return `do\n${locals}\nlaws[${number}] = {\n${fields.join(',\n')}\n}\nend`
}
