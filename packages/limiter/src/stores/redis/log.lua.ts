/**
 * The entries of one log: one string, 16 bytes each, in order of time; an entry is an instant and the running total
 * up to and with it. The end is read at once, 64 entries, and the rest in blocks of 16 where bisection leads; only
 * the end is written. So a decision costs half as much again in a log of 100,000 as in one of 1,000. Entries that no
 * longer count are cut off when they are half of it, all but the last of them: its total is where the rest begins.
 *
 * A log in hand is \`tail\`, the entries from \`base\` on, as they will be written from \`changed\` on.
 */
export const logLua = `
local sub = string.sub
local function loadLog(key)
  local tail = call('GETRANGE', key, -1024, -1)
  local n = #tail / 16
  local c = { 0, tail = tail, key = key, blocks = {}, absent = n == 0 }
  if n == 64 then n = call('STRLEN', key) / 16 end
  c.n, c.stored, c.base, c.changed = n, n, n - #tail / 16, n
  if n > 0 then c[1] = parse('<d', tail, #tail - 15) end
  return c
end
local function entry(c, i)
  local text, first = c.tail, c.base
  if i < first then
    local block = floor(i / 16)
    first = block * 16
    text = c.blocks[block]
    if not text then
      text = call('GETRANGE', c.key, first * 16, first * 16 + 255)
      c.blocks[block] = text
    end
  end
  local instant, total = parse('<dd', text, (i - first) * 16 + 1)
  return instant, total
end
local function put(c, instant, total)
  local at = c.n - 1
  if at < 0 or c[1] ~= instant then at = c.n end
  c.tail = sub(c.tail, 1, (at - c.base) * 16) .. pack('<dd', instant, total)
  c.changed = min(c.changed, at)
  c.n = at + 1
end
local function lower(c, from, units)
  local rest = {}
  for i = from, c.n - 1 do
    local instant, total = entry(c, i)
    rest[#rest + 1] = pack('<dd', instant, total - units)
  end
  rest = table.concat(rest)
  if from < c.base then
    c.tail, c.base = rest, from
  else
    c.tail = sub(c.tail, 1, (from - c.base) * 16) .. rest
  end
  c.changed = min(c.changed, from)
end
local function drop(c, first)
  c.tail = sub(c.tail, (first - c.base) * 16 + 1)
  c.n, c.stored, c.base, c.changed, c.seen = c.n - first, 0, 0, 0, nil
end
local function saveLog(key, c, till)
  -- A clock that steps back is held at the last admission: only what had aged then stays aged.
  local aged = c.seen == c[1] and max(0, c.live - 1) or 0
  if c.base == 0 then
    call('SET', key, sub(c.tail, aged * 16 + 1), 'PXAT', till)
  elseif aged * 2 >= c.stored then
    local head = aged < c.base and call('GETRANGE', key, aged * 16, c.base * 16 - 1) or ''
    call('SET', key, head .. sub(c.tail, max(0, aged - c.base) * 16 + 1), 'PXAT', till)
  else
    call('SETRANGE', key, c.changed * 16, sub(c.tail, (c.changed - c.base) * 16 + 1))
    call('PEXPIREAT', key, till)
  end
end
`
