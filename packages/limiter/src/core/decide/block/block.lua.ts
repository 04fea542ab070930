/**
 * block.ts in Lua. `b` holds `after`, `within` and `period`.
 * `c[1]`… are the cells.
 */
export const blockLua = `
local BLOCK_FORM, BLOCK_SIZE = '<dddd', 4
local function blockedFor(c, now)
  return max(0, c[4] - now)
end
local function blockOver(c, now)
  return max(0, c[4] - now, c[2] > 0 and c[3] - now or 0)
end
local function countRefusal(b, c, now)
  if now < c[4] then return end
  if c[2] == 0 or now >= c[3] then c[2], c[3] = 0, now + b.within end
  c[2] = c[2] + 1
  if c[2] < b.after then return end
  c[2], c[4] = 0, now + b.period
end
local function setBlock(c, now, ticks)
  if ticks == 0 then
    c[2], c[4] = 0, 0
  else
    c[4] = max(c[4], now + ticks)
  end
end
`
