/**
 * Corrects charges. A charge is its key's number · parts + its part's number, the change, the instant of the charge
 * in units, its phase, its id. The first argument after the parts is when the settlement is over, or empty; then
 * the last key remembers that it happened.
 *
 * Answers the time and 1, or 0 when it happened before or is over, or -2 when no window of a calendar holds the time;
 * then nothing has changed.
 */
export const settleLua = `
local over = args[i]
i = i + 1
local function charges()
  local j = i - 5
  return function()
    j = j + 5
    if not args[j] then return end
    local k = floor(args[j] / partCount)
    local p, phase = parts[args[j] - k * partCount + 1], args[j + 3] + 0
    local key = KEYS[k + 1]
    local c = p.program.load(key, p.program.form)
    return key, p, c, phase, args[j + 1] + 0, args[j + 2] + 0, args[j + 4] + 0
  end
end
if over ~= '' and (over + 0 <= at or call('EXISTS', KEYS[#KEYS]) == 1) then return { at, 0 } end
for _, p, c, phase, change in charges() do
  local _, now = instants(p, c, phase)
  if change > 0 and p.ceiling > 0 and p.program.noWindow and p.program.noWindow(p, c, now) then return { at, -2 } end
end
if over ~= '' then call('SET', KEYS[#KEYS], '', 'PXAT', expiry({ unit = 1 }, over + 0, 0, 0)) end
for key, p, c, phase, change, charged, chargeId in charges() do
  local program, keeps = p.program, true
  local last, now, used = instants(p, c, phase)
  if change > 0 and p.ceiling > 0 then
    program.charge(p, c, last, now, change, chargeId)
    c[1], last = used, now
  elseif change < 0 and not c.absent then
    program.refund(p, c, last, now, -change, charged, chargeId)
  else
    keeps = false
  end
  if keeps then
    local idle = program.idle and program.idle(p, c, last, now) or program.wait(p, c, last, now, p.capacity)
    program.save(key, c, expiry(p, now, idle, phase), program.form, program.size)
  end
end
return { at, 1 }
`
