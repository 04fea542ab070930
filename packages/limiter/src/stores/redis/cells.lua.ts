/** A fixed run of integers: one string, 8 bytes each (a double holds every whole number up to 2^53). */
export const cellsLua = `
local function loadCells(key, form, text)
  if text == nil then text = call('GET', key) end
  if text then return { parse(form, text) } end
  return { 0, 0, 0, 0, 0, 0, absent = true }
end
local function saveCells(key, c, till, form, size)
  call('SET', key, pack(form, unpack(c, 1, size)), 'PXAT', till)
end
`
