/**
 * For algorithms without a twin: states as text, decided elsewhere, and written where nothing has changed meanwhile.
 * A state is kept as cells.lua.ts keeps it, and travels as its integers with blanks between them; nothing is an empty
 * text.
 */
const statesLua = `
local function textOf(key)
  local value = call('GET', key)
  local words = {}
  for j = 1, value and #value / 8 or 0 do words[j] = whole((parse('<d', value, j * 8 - 7))) end
  return table.concat(words, ' ')
end
`

/** Answers the time, as text, and the state of each key. */
export const readLua: string = `${statesLua}
local reply = { whole(at) }
for j = 1, #KEYS do reply[j + 1] = textOf(KEYS[j]) end
return reply
`

/**
 * ARGV: the time or nothing; when the settlement is over, or nothing; for each state what it was; then for each that
 * has changed the number of its key, what it is, and when it expires. With a settlement the last key remembers that it
 * happened. Answers 1; 0 where a state is not what it was; -1 where the settlement happened before, or is over.
 */
export const swapLua: string = `${statesLua}
local over = args[2]
local count = over == '' and #KEYS or #KEYS - 1
if over ~= '' and (over + 0 <= at or call('EXISTS', KEYS[#KEYS]) == 1) then return { at, -1 } end
for j = 1, count do
  if textOf(KEYS[j]) ~= args[2 + j] then return { at, 0 } end
end
if over ~= '' then call('SET', KEYS[#KEYS], '', 'PXAT', expiry({ unit = 1 }, over + 0, 0, 0)) end
for j = 3 + count, #args, 3 do
  local packed = {}
  for word in string.gmatch(args[j + 1], '%S+') do packed[#packed + 1] = pack('<d', word + 0) end
  call('SET', KEYS[args[j] + 0], table.concat(packed), 'PXAT', expiry({ unit = 1 }, args[j + 2] + 0, 0, 0))
end
return { at, 1 }
`
