/**
 * The slots of one state: a sorted set of the ids of charges by the instant at which each expires. Below 0 stand, as their own
 * negatives, \`last\` (the last admission), \`held\` (units of all slots here) and, where it is not 1, a slot's
 * weight under \`w\` and its name.
 */
export const slotsLua = `
local function loadSlots(key)
  local scores = call('ZMSCORE', key, 'last', 'held')
  return { -(scores[1] or 0), key = key, held = -(scores[2] or 0), absent = not scores[1] }
end
local function saveSlots(key, c, till)
  call('PEXPIREAT', key, till)
end
local function weight(c, name)
  return -(call('ZSCORE', c.key, 'w' .. name) or -1)
end
local function held(c, now)
  if not c.over then
    c.over = call('ZRANGEBYSCORE', c.key, '(0', whole(now))
    for _, name in ipairs(c.over) do c.held = c.held - weight(c, name) end
  end
  return c.held
end
local function freedAt(c, now, units)
  if units == c.held then return call('ZREVRANGE', c.key, 0, 0, 'WITHSCORES')[2] + 0 end
  local from = 0
  while true do
    local count = min(units, 64)
    local some = call('ZRANGEBYSCORE', c.key, '(' .. whole(now), '+inf', 'WITHSCORES', 'LIMIT', from, count)
    if #some == 0 then return huge end
    for i = 1, #some, 2 do
      units = units - weight(c, some[i])
      if units <= 0 then return some[i + 1] + 0 end
    end
    from = from + count
  end
end
local function hold(c, now, till, chargeId, units)
  held(c, now)
  for _, name in ipairs(c.over) do call('ZREM', c.key, name, 'w' .. name) end
  c.over = {}
  local name = chargeId > 0 and whole(chargeId) or 'at' .. whole(till)
  if units > 0 then
    local all = (call('ZSCORE', c.key, name) and weight(c, name) or 0) + units
    call('ZADD', c.key, whole(till), name)
    if all ~= 1 then call('ZADD', c.key, whole(-all), 'w' .. name) end
    c.held = c.held + units
  end
  call('ZADD', c.key, whole(-now), 'last', whole(-c.held), 'held')
end
-- One that is over too: a clock that steps back would have it live again.
local function release(c, chargeId, units)
  local name = whole(chargeId)
  if not call('ZSCORE', c.key, name) then return end
  local had = weight(c, name)
  local given = min(units, had)
  if given == had then
    call('ZREM', c.key, name, 'w' .. name)
  else
    call('ZADD', c.key, whole(given - had), 'w' .. name)
  end
  c.held = c.held - given
  call('ZADD', c.key, whole(-c.held), 'held')
end
`
