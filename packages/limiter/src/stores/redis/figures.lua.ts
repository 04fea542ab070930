/**
 * What every script of ours begins with: the server's time, read once (or, in a run under a clock of its own, the
 * time in ARGV[1]).
 */
export const timeLua = `
local args, clock = ARGV, call('TIME')
clock = clock[1] * 1000000 + clock[2]
local at = args[1] == '' and clock or args[1] + 0
-- When a state may be dropped at the earliest, in ms.
local soonest = floor(clock / 1000) + 1`

/**
 * Makes `till` of `now`, `pause` and `phase`: when a state may be dropped, in ms since the epoch: never early, and where
 * nothing refills it, after 100 years. Under a clock that is not the server's nothing may expire before the run is over: a
 * day.
 */
export const tillLua = `
local till = soonest + 86399999
if at == clock then
  local latest = soonest + 3155759999999
  till = (now + pause) * p.unit + phase
  till = till < MAX and ceilDiv(till, 1000) or latest
  if till > latest then till = latest elseif till < soonest then till = soonest end
end`

/** `till` as text, as %.0f would write it in three times the time. */
export const tillTextLua = "format('%d%06d', floor(till / 1000000), till % 1000000)"

/** How integers are written that a client may read wrongly. */
export const exactLua = `
-- Clients read integers that close to 2^53 wrongly.
local BIG = 9007199254740900
local function exact(n)
  if n < BIG then return n end
  return n == huge and -1 or whole(n)
end`

/** The time, when a state may be dropped, and how figures are made. */
export const figuresLua: string = `${timeLua}
-- The instant that counts, in microseconds: a clock that stepped back is held at the last admission.
local function instantOf(c)
  return at < c[1] and c[1] or at
end
local function inUnits(p, ticks)
  return p.unit == 1 and ticks or floor(ticks / p.unit)
end
-- The last admission and the instant that counts, in units; and that again in microseconds.
local function instants(p, c, phase)
  local used = instantOf(c)
  return inUnits(p, c[1] - phase), inUnits(p, used - phase), used
end
local function expiry(p, now, pause, phase)${tillLua}
  return ${tillTextLua}
end${exactLua}
-- Remaining, retry, more and reset as the reply says them, and the wait until the state equals none.
local function figures(left, wait, p, c, last, now, cost, ok)
  local retry, more, reset, capacity = 0, -1, 0, p.capacity
  if left < 0 then left = 0 end
  if not ok then retry = cost > capacity and -1 or wait(p, c, last, now, cost) end
  if left < capacity then
    more = not ok and left + 1 == cost and retry or wait(p, c, last, now, left + 1)
    reset = left + 1 == capacity and more or wait(p, c, last, now, capacity)
  end
  if left < BIG and retry < BIG and more < BIG and reset < BIG then return left, retry, more, reset, reset end
  return exact(left), exact(retry), exact(more), exact(reset), reset
end
`
