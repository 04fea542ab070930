/**
 * Decides requests one after the other. A step is its key's number · parts + its part's number, doubled, plus 1 if
 * the request has another step; its cost; its phase and its lease where it has them. States are read once and
 * written once, at the end, however many requests share them.
 *
 * Answers the time and for each step six integers: remaining, retry, more, reset, delay, instant, in the plan's
 * units, -1 meaning never; or six times -2 where no window of a calendar fits, and then that request was not charged.
 */
export const decideLua = `
local states, dirty, keepers, expiries, writes = { false }, { false }, { false }, { false }, 0
local reply, n = { at, 0, 0, 0, 0, 0, 0 }, 1
local function keep(k, p, now, phase, wait)
  if not expiries[k] then
    writes = writes + 1
    dirty[writes] = k
  end
  keepers[k], expiries[k] = p.law, expiry(p, now, wait, phase)
end
local function answer(at, charged, left, k, p, c, now, cost, ok, delay, phase, lease)
  local reset
  if charged then
    p.law.charge(p, c, now, cost, lease)
    c[1] = now
    left = left - cost
  end
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reset = figures(left, p.law.wait, p, c, now, cost, ok)
  reply[at + 5], reply[at + 6] = delay < BIG and delay or exact(delay), now
  if charged then keep(k, p, now, phase, reset) end
end
-- Whether a step is charged that admits its cost, if the request is.
local function isCharged(p, cost, ok)
  return ok and cost > 0 and p.role ~= GUARD and not p.peek
end
local function answerAll(steps, count)
  local allowed, quotas, over = true, 0, 0
  for j = 1, count do
    local role, ok = steps[j][2].role, steps[j][6]
    if role == QUOTA then
      quotas = quotas + 1
      if not ok then over = over + 1 end
    elseif role ~= SHADOW and not ok then
      allowed = false
    end
  end
  allowed = allowed and (quotas == 0 or over < quotas)
  local charged = {}
  local function answerIf(wanted)
    for j = 1, count do
      local _, p, c, now = unpack(steps[j])
      if charged[j] == wanted then answer(n + j * 6 - 6, wanted, p.law.remaining(p, c, now), unpack(steps[j])) end
    end
  end
  for j = 1, count do charged[j] = allowed and isCharged(steps[j][2], steps[j][5], steps[j][6]) end
  -- Guards are told before they are read: one may block from now on.
  for j = 1, count do
    local k, p, c, now, cost, _, _, phase = unpack(steps[j])
    if not allowed and p.role == GUARD and not p.peek and j > p.back and not steps[j - p.back][6] then
      p.law.refuse(p, c, now)
      c[1] = now
      keep(k, p, now, phase, p.law.wait(p, c, now, p.capacity))
      steps[j][6] = cost == 0 or cost <= p.law.remaining(p, c, now)
    end
  end
  -- A state may stand in two roles: what is not charged is read before anything is.
  answerIf(false)
  answerIf(true)
end
while args[i] do
  local steps, count, another, lost = nil, 0, 1, false
  while another == 1 do
    local ref, cost, phase, lease = args[i] + 0, args[i + 1] + 0, 0, 0
    i = i + 2
    another = ref % 2
    ref = (ref - another) / 2
    local k = floor(ref / partCount)
    local p = parts[ref - k * partCount + 1]
    local law = p.law
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
      c = law.load(KEYS[k], law.form, texts[k])
      states[k] = c
    end
    local now = heldAt(p, c, at - phase)
    local left = law.remaining(p, c, now)
    local ok = cost == 0 or cost <= left
    local delay = ok and cost > 0 and law.delay and law.delay(p, c, now) or 0
    if law.lost and not p.peek and law.lost(p, c, now) then lost = true end
    count = count + 1
    if count + another > 1 then
      steps = steps or {}
      steps[count] = { k, p, c, now, cost, ok, delay, phase, lease }
    elseif not lost then
      answer(n, isCharged(p, cost, ok), left, k, p, c, now, cost, ok, delay, phase, lease)
    end
  end
  if lost then
    for j = n + 1, n + count * 6 do reply[j] = -2 end
  elseif steps then
    answerAll(steps, count)
  end
  n = n + count * 6
end
for j = 1, writes do
  local k = dirty[j]
  local law = keepers[k]
  law.save(KEYS[k], states[k], expiries[k], law.form, law.size)
end
return reply
`
