/** integers.ts in Lua, and the names that twins use. */
export const integersLua = `
local floor, ceil, fmod, huge = math.floor, math.ceil, math.fmod, math.huge
local max, min = math.max, math.min
local MAX = 9007199254740991
local function floorDiv(a, b)
  local q = floor(a / b)
  if q * b > a then return q - 1 end
  return q
end
local function ceilDiv(a, b)
  local q = ceil(a / b)
  if q * b < a then return q + 1 end
  return q
end
`
