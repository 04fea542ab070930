/**
 * Reads the parts: ARGV[2] is their number. A part is a rule as a script needs it: its program's number, its mode
 * (role + 4 if the request only looks + 8 if steps carry a phase + 16 if the rule can block), the plan's five
 * integers, the twin's extras, and where it can block the block's three integers.
 */
export const partsLua = `
local QUOTA, SHADOW = 1, 2
local partCount, parts, i = args[2] + 0, { false }, 3
for j = 1, partCount do
  local program, mode = programs[args[i] + 0], args[i + 1] + 0
  local p = {
    program = program, role = mode % 4, peek = mode % 8 >= 4, phased = mode % 16 >= 8,
    capacity = args[i + 2] + 0, limit = args[i + 3] + 0, period = args[i + 4] + 0, unit = args[i + 5] + 0,
    ceiling = args[i + 6] + 0,
  }
  i = i + 7
  for extra = 1, program.extras do
    p[extra] = args[i] + 0
    i = i + 1
  end
  if mode >= 16 then
    p.block = { after = args[i] + 0, within = args[i + 1] + 0, period = args[i + 2] + 0, unit = 1, program = blockProgram }
    i = i + 3
  end
  parts[j] = p
end
`
