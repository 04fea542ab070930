/**
 * Decides requests one after the other. A step is its key's number · parts + its part's number, doubled, plus 1 if
 * the request has another step; its cost; its phase, its charge's id and the number of its block's key where it has
 * them. States are read once and written once, at the end, however many requests share them.
 *
 * Answers the time and for each step six integers: remaining, retry, more, reset, delay, in the plan's units, -1 meaning
 * never, and the instant that counted, in microseconds; for a rule that can block a seventh: for how long it is blocked,
 * in microseconds. Or as many times -2 where no window of a calendar holds the time, and then that request was not charged.
 */
export const decideLua = `
local states, dirty, keepers, expiries, writes = { false }, { false }, { false }, { false }, 0
local reply, n = { at, 0, 0, 0, 0, 0, 0 }, 1
local function keep(k, p, now, phase, wait)
  if not expiries[k] then
    writes = writes + 1
    dirty[writes] = k
  end
  keepers[k], expiries[k] = p.program, expiry(p, now, wait, phase)
end
local function answer(at, charged, k, p, c, cost, ok, delay, phase, chargeId)
  local last, now, used = instants(p, c, phase)
  local left, reset = p.program.remaining(p, c, last, now), nil
  if charged then
    p.program.charge(p, c, last, now, cost, chargeId)
    c[1], last = used, now
    left = left - cost
  end
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reset = figures(left, p.program.wait, p, c, last, now, cost, ok)
  reply[at + 5], reply[at + 6] = delay < BIG and delay or exact(delay), used
  if charged then keep(k, p, now, phase, p.program.idle and p.program.idle(p, c, last, now) or reset) end
end
-- Whether a step is charged that admits its cost, if the request is.
local function isCharged(p, cost, ok)
  return ok and cost > 0 and not p.peek
end
local function readBlock(step)
  local p, cost, c = step[2], step[4], step[10]
  if p.block then step[11] = cost > 0 and blockedFor(c, instantOf(c)) or 0 end
end
local function countRefusals(steps, count)
  for j = 1, count do
    local p, ok, k, c = steps[j][2], steps[j][5], steps[j][9], steps[j][10]
    local b = p.block
    if b and b.after > 0 and not ok and not p.peek then
      local now = instantOf(c)
      countRefusal(b, c, now)
      c[1] = now
      keep(k, b, now, 0, blockOver(c, now))
    end
  end
  for j = 1, count do readBlock(steps[j]) end
end
local function answerAll(steps, count)
  local allowed, quotas, over = true, 0, 0
  for j = 1, count do
    local role, ok = steps[j][2].role, steps[j][5]
    if role ~= SHADOW then
      if steps[j][11] > 0 then
        allowed = false
      elseif role == QUOTA then
        quotas = quotas + 1
        if not ok then over = over + 1 end
      elseif not ok then
        allowed = false
      end
    end
  end
  allowed = allowed and (quotas == 0 or over < quotas)
  if not allowed then countRefusals(steps, count) end
  local charged = {}
  local function answerIf(wanted)
    for j = 1, count do
      if charged[j] == wanted then answer(steps[j][12], wanted, unpack(steps[j])) end
    end
  end
  for j = 1, count do
    charged[j] = allowed and isCharged(steps[j][2], steps[j][4], steps[j][5])
    if steps[j][2].block then reply[steps[j][12] + 7] = steps[j][11] end
  end
  -- A state may stand in two roles: what is not charged is read before anything is.
  answerIf(false)
  answerIf(true)
end
while args[i] do
  local steps, count, another, noWindow, first = nil, 0, 1, false, n
  while another == 1 do
    local ref, cost, phase, chargeId, blockKey = args[i] + 0, args[i + 1] + 0, 0, 0, 0
    i = i + 2
    another = ref % 2
    ref = (ref - another) / 2
    local k = floor(ref / partCount)
    local p = parts[ref - k * partCount + 1]
    local program = p.program
    if p.phased then
      phase = args[i] + 0
      i = i + 1
    end
    if program.named then
      chargeId = args[i] + 0
      i = i + 1
    end
    k = k + 1
    local c = states[k]
    if not c then
      c = program.load(KEYS[k], program.form, texts[k])
      states[k] = c
    end
    local last, now = instants(p, c, phase)
    local ok = cost == 0 or cost <= program.remaining(p, c, last, now)
    local delay = ok and cost > 0 and program.delay and program.delay(p, c, last, now) or 0
    if program.noWindow and not p.peek and program.noWindow(p, c, now) then noWindow = true end
    count = count + 1
    if count + another > 1 or p.block then
      local block = false
      if p.block then
        blockKey = args[i] + 1
        i = i + 1
        block = states[blockKey]
        if not block then
          block = blockProgram.load(KEYS[blockKey], blockProgram.form, texts[blockKey])
          states[blockKey] = block
        end
      end
      steps = steps or {}
      steps[count] = { k, p, c, cost, ok, delay, phase, chargeId, blockKey, block, 0, n }
      readBlock(steps[count])
    elseif not noWindow then
      answer(n, isCharged(p, cost, ok), k, p, c, cost, ok, delay, phase, chargeId)
    end
    n = n + (p.block and 7 or 6)
  end
  if noWindow then
    for j = first + 1, n do reply[j] = -2 end
  elseif steps then
    answerAll(steps, count)
  end
end
for j = 1, writes do
  local k = dirty[j]
  local program = keepers[k]
  program.save(KEYS[k], states[k], expiries[k], program.form, program.size)
end
return reply
`
