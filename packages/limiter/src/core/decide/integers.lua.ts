/** integers.ts in Lua, and the names that twins use. */
export const integersLua = `
local floor, ceil, fmod, huge = math.floor, math.ceil, math.fmod, math.huge
local max, min = math.max, math.min
local MAX = 9007199254740991
local function floorDiv(a, b)
  return floor(a / b)
end
local function ceilDiv(a, b)
  return ceil(a / b)
end
`
