/**
 * What every script of ours begins with: the time, read once, and the parts. A part is a policy in a role: its
 * law's number, its mode (role + 4 if the request only looks + 8 if steps carry a phase), how many steps before it
 * stands the one it watches, the plan's five integers, and the twin's extras.
 *
 * ARGV[1] is empty, or the time in place of the server's; ARGV[2] is the number of parts.
 */
export const requestLua = `
local QUOTA, SHADOW, GUARD = 1, 2, 3
local clock = call('TIME')
clock = clock[1] * 1000000 + clock[2]
local at, args, i = clock, ARGV, 3
if args[1] ~= '' then at = args[1] + 0 end
local partCount, parts = args[2] + 0, { false }
for j = 1, partCount do
  local law, mode = laws[args[i] + 0], args[i + 1] + 0
  local p = {
    law = law, phased = mode >= 8, peek = mode % 8 >= 4, role = mode % 4, back = args[i + 2] + 0,
    capacity = args[i + 3] + 0, limit = args[i + 4] + 0, period = args[i + 5] + 0, unit = args[i + 6] + 0,
    ceiling = args[i + 7] + 0,
  }
  i = i + 8
  for extra = 1, law.extras do
    p[extra] = args[i] + 0
    i = i + 1
  end
  parts[j] = p
end
-- The instant that counts, in units: a clock that stepped back is held at the last admission.
local function heldAt(p, c, ticks)
  local now = p.unit == 1 and ticks or floor(ticks / p.unit)
  return now < c[1] and c[1] or now
end
-- When a state may be dropped, in ms since the epoch: never early, and where nothing refills it, after 100 years.
-- Under a clock that is not the server's nothing may expire before the run is over: a day.
local function expiry(p, now, wait, phase)
  local soon = floor(clock / 1000)
  if at ~= clock then return whole(soon + 86400000) end
  local till = (now + wait) * p.unit + phase
  till = till < 9007199254740991 and ceilDiv(till, 1000) or huge
  return whole(max(soon + 1, min(till, soon + 3155760000000)))
end
`
