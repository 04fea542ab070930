/**
 * Reads the parts: ARGV[2] is their number. A part is a policy in a role: its law's number, its mode (role + 4 if
 * the request only looks + 8 if steps carry a phase), how many steps before it stands the one it watches, the
 * plan's five integers, and the twin's extras.
 */
export const partsLua = `
local QUOTA, SHADOW, GUARD = 1, 2, 3
local partCount, parts, i = args[2] + 0, { false }, 3
for j = 1, partCount do
  local law, mode = laws[args[i] + 0], args[i + 1] + 0
  local p = {
    law = law, phased = mode >= 8, peek = mode % 8 >= 4, role = mode % 4, back = args[i + 2] + 0,
    capacity = args[i + 3] + 0, limit = args[i + 4] + 0, period = args[i + 5] + 0, unit = args[i + 6] + 0,
    ceiling = args[i + 7] + 0,
  }
  i = i + 8
  for extra = 1, law.extras do
    p[extra] = args[i] + 0
    i = i + 1
  end
  parts[j] = p
end
`
