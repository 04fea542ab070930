import { levelTwin } from '../level.lua.ts'
import type { Twin } from '../twin.ts'

export const leakyBucketTwin: Twin = {
  ...levelTwin,
  delay: `
local level = levelAt(p, c, last, now)
if level == 0 then return 0 end
if p.limit == 0 then return huge end
return ceilDiv(level, p.limit)`,
}
