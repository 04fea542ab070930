/** A fixed run of integers: one string, 8 bytes each (a double holds every whole number up to 2^53). */
export const cellsLua = `
local cells = {}
function cells.load(key, law)
  local text = call('GET', key)
  if text then return { parse(law.format, text) } end
  return { 0, 0, 0, 0, absent = true }
end
function cells.save(key, c, law, till)
  call('SET', key, pack(law.format, unpack(c, 1, law.size)), 'PXAT', till)
end
`
