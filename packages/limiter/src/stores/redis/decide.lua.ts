/**
 * Decides requests one after the other. A step is its key's number · parts + its part's number, doubled, plus 1 if
 * the request has another step; its cost; its phase and its lease where it has them. States are read once and
 * written once, at the end, however many requests share them.
 *
 * Answers the time and for each step six integers: remaining, retry, more, reset, delay, instant, in the plan's
 * units, -1 meaning never; or six times -2 where no window of a calendar fits, and then that request was not charged.
 */
export const decideLua = `
local states, steps = { false }, { false }
local dirty, keepers, expiries = { false }, { false }, { false }
local writes = 0
local reply, n = { at, 0, 0, 0, 0, 0, 0 }, 1
-- Clients read integers that close to 2^53 wrongly.
local function exact(n)
  if n < 9007199254740900 then return n end
  return n == huge and -1 or whole(n)
end
local function figures(s, at)
  local p, c, now, cost = s.p, s.c, s.now, s.cost
  local law, capacity = p.law, p.capacity
  local left = law.remaining(p, c, now)
  if left < 0 then left = 0 end
  local retry, more, reset = 0, -1, 0
  if not s.ok then retry = cost > capacity and -1 or law.wait(p, c, now, cost) end
  if left < capacity then
    more = law.wait(p, c, now, left + 1)
    reset = left + 1 == capacity and more or law.wait(p, c, now, capacity)
  end
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4] = exact(left), exact(retry), exact(more), exact(reset)
  reply[at + 5], reply[at + 6] = exact(s.delay), now
  return reset
end
local function keep(s, wait)
  local k = s.k
  s.c[1] = s.now
  if not expiries[k] then
    writes = writes + 1
    dirty[writes] = k
  end
  keepers[k], expiries[k] = s.p.law, expiry(s.p, s.now, wait, s.phase)
end
while args[i] do
  local count, another, allowed, quotas, over, lost = 0, 1, true, 0, 0, false
  while another == 1 do
    local ref, cost, phase, lease = args[i] + 0, args[i + 1] + 0, 0, 0
    i = i + 2
    another = ref % 2
    ref = (ref - another) / 2
    local k = floor(ref / partCount)
    local p = parts[ref - k * partCount + 1]
    local law, role = p.law, p.role
    if p.phased then
      phase = args[i] + 0
      i = i + 1
    end
    if law.named then
      lease = args[i] + 0
      i = i + 1
    end
    k = k + 1
    local c = states[k]
    if not c then
      c = law.load(KEYS[k], law)
      states[k] = c
    end
    local now = heldAt(p, c, at - phase)
    local ok = cost == 0 or cost <= law.remaining(p, c, now)
    local delay = ok and cost > 0 and law.delay and law.delay(p, c, now) or 0
    count = count + 1
    local s = steps[count]
    if s then
      s.p, s.c, s.k, s.now, s.cost, s.ok, s.delay, s.phase, s.lease = p, c, k, now, cost, ok, delay, phase, lease
    else
      steps[count] = {
        p = p, c = c, k = k, now = now, cost = cost, ok = ok, delay = delay, phase = phase, lease = lease,
      }
    end
    if law.lost and not p.peek and law.lost(p, c, now) then lost = true end
    if role == QUOTA then
      quotas = quotas + 1
      if not ok then over = over + 1 end
    elseif role ~= SHADOW and not ok then
      allowed = false
    end
  end
  if lost then
    for j = n + 1, n + count * 6 do reply[j] = -2 end
  else
    local peek = steps[1].p.peek
    local charges = allowed and not peek and (quotas == 0 or over < quotas)
    -- A state may stand in two roles: what is not charged is read before anything is.
    for j = 1, count do
      local s = steps[j]
      s.charged = charges and s.ok and s.cost > 0 and s.p.role ~= GUARD
      if not s.charged then figures(s, n + j * 6 - 6) end
    end
    for j = 1, count do
      local s = steps[j]
      local p, c, now = s.p, s.c, s.now
      if s.charged then
        p.law.charge(p, c, now, s.cost, s.lease)
        keep(s, figures(s, n + j * 6 - 6))
      elseif p.role == GUARD and not charges and not peek and j > p.back and not steps[j - p.back].ok then
        p.law.refuse(p, c, now)
        keep(s, p.law.wait(p, c, now, p.capacity))
      end
    end
  end
  n = n + count * 6
end
for j = 1, writes do
  local k = dirty[j]
  keepers[k].save(KEYS[k], states[k], keepers[k], expiries[k])
end
return reply
`
