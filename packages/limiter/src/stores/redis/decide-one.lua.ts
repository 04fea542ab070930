import type { Twin } from '../../core/decide/twin.ts'
import { exactLua, tillLua } from './figures.lua.ts'
import { cellNames, planNames, straight, straightFunctions } from './straight.ts'

/**
 * What decide.lua.ts does for requests of one step without a block, where all are of one twin: the same figures, in
 * half the server's time for one that is alone, and two thirds in a crowd. Its parts are put together for each twin.
 */
interface StepText {
  /** Declares, where a state is one string, its cells; then the functions of the twin. */
  readonly names: string
  /** Makes the six integers of the reply from `cost`, `phase`, `chargeId` and `charges`, and charges the state. */
  readonly decide: string
  /** Makes `till` of a state that was charged. */
  readonly till: string
}

/**
 * ARGV: the time or nothing, 1 if the step may charge, the plan's words, the cost, and where there are any the phase and
 * the charge's id.
 * @param words of the one plan that the script is for: it has them in its text, and calls leave them out
 */
export function decideOneLua(twin: Twin, words?: readonly string[]): string {
  const text = oneLua(twin, words === undefined)
  if (words === undefined) return text
  const names = planNames(twin)
  return text.replace(/\bp_\w+/g, (name) => words[names.indexOf(name)]!)
}

function oneLua(twin: Twin, isSent: boolean): string {
  const { keeps, size = 0, extraCount = 0 } = twin
  const { names, decide, till } = stepText(twin)
  const cells = cellNames(twin).join(', ')
  const isCells = keeps === 'cells'
  const first = isSent ? 8 + extraCount : 3
  return `${isSent ? planLocals(twin) : ''}
${names}
local key = KEYS[1]
${isSent ? assigned(twin, (i) => `args[${i + 3}] + 0`) : ''}
${isCells ? `local text = call('GET', key)\nif text then ${cells} = parse('<${'d'.repeat(size)}', text) end` : `local c = load${keeps === 'log' ? 'Log' : 'Slots'}(key)`}
local charges, cost, phase, chargeId = args[2] == '1', args[${first}] + 0, (args[${first + 1}] or 0) + 0, (args[${first + 2}] or 0) + 0
${decide}
if charged then
  ${till}
  ${isCells ? `call('SET', key, pack('<${'d'.repeat(size)}', ${cells}), 'PXAT', till)` : `save${keeps === 'log' ? 'Log' : 'Slots'}(key, c, till)`}
end
return { at, left, retry, more, reset, turn, used }
`
}

/** ARGV as for decide.lua.ts, where all requests have one step without a block, all of one twin that keeps cells. */
export function decideManyLua(twin: Twin): string {
  const { size = 0, extraCount = 0 } = twin
  const { names, decide, till } = stepText(twin)
  const cells = cellNames(twin).join(', ')
  const form = `'<${'d'.repeat(size)}'`
  return `${planLocals(twin)}
${names}
local partCount, i = args[2] + 0, 3
i = i + partCount * ${7 + extraCount}
local texts, tills, dirty, writes = call('MGET', unpack(KEYS)), {}, {}, 0
local reply, n, part, charges, phased = { at, 0, 0, 0, 0, 0, 0 }, 1, -1, true, false
while args[i] do
  local ref, cost, phase, chargeId = args[i] / 2, args[i + 1] + 0, 0, 0
  i = i + 2
  local k = floor(ref / partCount)
  local own = ref - k * partCount
  if own ~= part then
    part = own
    local j = 3 + own * ${7 + extraCount}
    local mode = args[j + 1] + 0
    charges, phased = mode % 8 < 4, mode >= 8
    ${assigned(twin, (word) => `args[j + ${word + 2}] + 0`)}
  end
  if phased then
    phase = args[i] + 0
    i = i + 1
  end
  k = k + 1
  local text = texts[k]
  if text then ${cells} = parse(${form}, text) else ${cells} = ${new Array(size).fill(0).join(', ')} end
  ${decide}
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5], reply[n + 6] = left, retry, more, reset, turn, used
  n = n + 6
  if charged then
    if not tills[k] then
      writes = writes + 1
      dirty[writes] = k
    end
    ${till}
    texts[k], tills[k] = pack(${form}, ${cells}), till
  end
end
for j = 1, writes do
  local k = dirty[j]
  call('SET', KEYS[k], texts[k], 'PXAT', tills[k])
end
return reply
`
}

function stepText(twin: Twin): StepText {
  const { keeps, noWindow, delay, idle } = twin
  const cells = cellNames(twin)
  const declared = [
    ...(keeps === 'cells' ? [`local ${cells.join(', ')} = ${cells.map(() => 0).join(', ')}`] : []),
  ]
  const missing =
    noWindow === undefined
      ? ''
      : 'if missing then left, retry, more, reset, turn, used = -2, -2, -2, -2, -2, -2 end'
  const decide = `
local last, used = c[1], at < c[1] and c[1] or at
local now = used - phase
last = last - phase
if p.unit > 1 then last, now = floor(last / p.unit), floor(now / p.unit) end
local left = remaining(p, c, last, now)
local ok = cost == 0 or cost <= left
local turn = ${delay === undefined ? '0' : 'ok and cost > 0 and delay(p, c, last, now) or 0'}
local charged = ok and cost > 0 and charges
${noWindow === undefined ? '' : 'local missing = charged and noWindow(p, c, now)\nif missing then charged = false end'}
if charged then
  charge(p, c, last, now, cost, chargeId)
  c[1], last = used, now
  left = left - cost
end
if left < 0 then left = 0 end
local retry, more, reset = 0, -1, 0
if not ok then retry = cost > p.capacity and -1 or wait(p, c, last, now, cost) end
if left < p.capacity then
  more = not ok and left + 1 == cost and retry or wait(p, c, last, now, left + 1)
  reset = left + 1 == p.capacity and more or wait(p, c, last, now, p.capacity)
end
local pause = ${idle === undefined ? 'reset' : 'charged and idle(p, c, last, now)'}
if left >= BIG or retry >= BIG or more >= BIG or reset >= BIG or turn >= BIG then
  left, retry, more, reset, turn = exact(left), exact(retry), exact(more), exact(reset), exact(turn)
end
${missing}`
  return {
    names: [...declared, exactLua, straightFunctions(twin)].join('\n'),
    decide: straight(decide, twin),
    till: straight(tillLua, twin),
  }
}

function planLocals(twin: Twin): string {
  return `local ${planNames(twin).join(', ')}`
}

/** Gives the plan's fields the words of a call. */
function assigned(twin: Twin, word: (i: number) => string): string {
  const names = planNames(twin)
  return `${names.join(', ')} = ${names.map((_, i) => word(i)).join(', ')}`
}
