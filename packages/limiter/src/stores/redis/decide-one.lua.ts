import type { Twin } from '../../core/decide/twin.ts'
import { exactLua, tillLua, tillTextLua } from './figures.lua.ts'
import { planNames, straight, straightFunctions } from './straight.ts'

/**
 * What decide.lua.ts does for a request of one step without a block, of a log or of slots: the same figures, in
 * half the server's time.
 *
 * ARGV: the time or nothing, 1 if the step may charge, the plan's words, the cost, and where there are any the phase and
 * the charge's id.
 * @param words of the one plan that the script is for: it has them in its text, and calls leave them out
 */
export function decideOneLua(twin: Twin, words?: readonly string[]): string {
  const text = oneLua(twin, words === undefined)
  if (words === undefined) return text
  const names = planNames(twin)
  return text.replace(/\bp1_\w+/g, (name) => words[names.indexOf(name)]!)
}

function oneLua(twin: Twin, isSent: boolean): string {
  const { keeps, extraCount = 0 } = twin
  const names = planNames(twin)
  const first = isSent ? 8 + extraCount : 3
  const kind = keeps === 'log' ? 'Log' : 'Slots'
  return straight(
    `${isSent ? `local ${names.join(', ')} = ${names.map((_, i) => `args[${i + 3}] + 0`).join(', ')}` : ''}
${exactLua}
${straightFunctions(twin, ['remaining', 'wait', 'charge'])}
local key = KEYS[1]
local c = load${kind}(key)
local charges, cost, phase, chargeId = args[2] == '1', args[${first}] + 0, (args[${first + 1}] or 0) + 0, (args[${first + 2}] or 0) + 0
local last, used = c[1], at < c[1] and c[1] or at
local now = used - phase
last = last - phase
if p.unit > 1 then last, now = floor(last / p.unit), floor(now / p.unit) end
local left = remaining1(p, c, last, now)
local ok = cost == 0 or cost <= left
local charged = ok and cost > 0 and charges
if charged then
  charge1(p, c, last, now, cost, chargeId)
  c[1], last = used, now
  left = left - cost
end
if left < 0 then left = 0 end
local retry, more, reset = 0, -1, 0
if not ok then retry = cost > p.capacity and -1 or wait1(p, c, last, now, cost) end
if left < p.capacity then
  more = not ok and left + 1 == cost and retry or wait1(p, c, last, now, left + 1)
  reset = left + 1 == p.capacity and more or wait1(p, c, last, now, p.capacity)
end
local pause = reset
if left >= BIG or retry >= BIG or more >= BIG or reset >= BIG then
  left, retry, more, reset = exact(left), exact(retry), exact(more), exact(reset)
end
if charged then
  ${tillLua}
  save${kind}(key, c, ${tillTextLua})
end
return { at, left, retry, more, reset, 0, used }
`,
    twin,
  )
}
