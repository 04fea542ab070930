/**
 * Decides a request of one step without a block, as decide.lua.ts does, with what that costs for one alone left out.
 * ARGV: the time or nothing, 1 if the step may charge, the plan's five integers and the twin's extras, the cost, and
 * where there are any the phase and the charge's id.
 */
export const decideOneLua = `
local p = {
  capacity = args[3] + 0, limit = args[4] + 0, period = args[5] + 0, unit = args[6] + 0, ceiling = args[7] + 0,
}
for j = 1, extras do p[j] = args[7 + j] + 0 end
local i = 8 + extras
local key, cost, phase = KEYS[1], args[i] + 0, (args[i + 1] or 0) + 0
local c = load(key, form)
local last, now, used = instants(p, c, phase)
local left = remaining(p, c, last, now)
local ok = cost == 0 or cost <= left
local turn = delay and ok and cost > 0 and delay(p, c, last, now) or 0
local charged = ok and cost > 0 and args[2] == '1'
if charged then
  if noWindow and noWindow(p, c, now) then return { at, -2, -2, -2, -2, -2, -2 } end
  charge(p, c, last, now, cost, (args[i + 2] or 0) + 0)
  c[1], last = used, now
  left = left - cost
end
local left, retry, more, reset, full = figures(left, wait, p, c, last, now, cost, ok)
if charged then save(key, c, expiry(p, now, idle and idle(p, c, last, now) or full, phase), form, size) end
return { at, left, retry, more, reset, turn < BIG and turn or exact(turn), used }
`
