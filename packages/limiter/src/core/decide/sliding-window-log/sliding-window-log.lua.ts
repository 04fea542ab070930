import type { Twin } from '../twin.ts'

/**
 * The caller keeps the entries: `c.n` of them, counted from 0; `entry(c, i)` gives the instant of one and the
 * running total up to and with it, `put(c, instant, total)` replaces the last where it has that instant and else
 * appends, `lower(c, i, units)` takes so much off the totals from `i` on, `drop(c, i)` forgets those before `i`.
 */
export const slidingWindowLogTwin: Twin = {
  keeps: 'log',
  locals: `
local function search(c, column, least)
  local low, high = 0, c.n
  while low < high do
    local middle = floor((low + high) / 2)
    local value = select(column, entry(c, middle))
    if value < least then low = middle + 1 else high = middle end
  end
  return low
end
local function totalTo(c, i)
  if i < 0 then return 0 end
  local _, total = entry(c, i)
  return total
end
local function live(p, c, now)
  if c.seen ~= now then c.seen, c.live = now, search(c, 1, now - p.period + 1) end
  return c.live
end
local function used(p, c, now)
  if c.n == 0 then return 0 end
  return totalTo(c, c.n - 1) - totalTo(c, live(p, c, now) - 1)
end`,
  remaining: 'return p.capacity - used(p, c, now)',
  wait: `
local free = p.capacity - used(p, c, now)
if cost <= free then return 0 end
local enough = totalTo(c, live(p, c, now) - 1) + (cost - free)
local instant = entry(c, search(c, 2, enough))
return p.period - (now - instant)`,
  charge: `
local taken = min(cost, max(0, p.ceiling - used(p, c, now)))
local first = live(p, c, now)
local base = totalTo(c, first - 1)
if totalTo(c, c.n - 1) > MAX - taken then
  lower(c, first, base)
  drop(c, first)
end
put(c, now, totalTo(c, c.n - 1) + taken)`,
  refund: `
local i = search(c, 1, charged)
if i == c.n then return end
local instant, total = entry(c, i)
if instant == charged then lower(c, i, min(cost, total - totalTo(c, i - 1))) end`,
}
