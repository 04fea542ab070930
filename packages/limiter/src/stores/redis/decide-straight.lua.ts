import type { Role } from '../../core/decide/role.ts'
import type { Twin } from '../../core/decide/twin.ts'
import { tillLua, tillTextLua } from './figures.lua.ts'
import { cellNames, inlined, inlinedOnce, planNames, straight, straightFunctions } from './straight.ts'

/** A rule's part in a straight script: its twin keeps cells. */
export interface StraightStep {
  readonly twin: Twin
  readonly role: Role
  /** The plan's words, which are in the text then; absent: calls bring them. */
  readonly words: readonly string[] | undefined
}

/** Words by which a call lists a step of a request: the number of its key from 1, its cost and its phase. */
const WORDS_PER_STEP = 3

/**
 * What decide.lua.ts does, for requests that all have these steps, without blocks: two in half of the server's time. It
 * decides and charges, and answers no figures but the states as they were before, each once and in the order of the
 * keys: who asked makes the same decision of them by `run` (core/decide/run.ts), figures and all.
 *
 * ARGV: the time or nothing; the words of plans that are not in the text; and for each step of each request
 * {@link WORDS_PER_STEP}. Without these the keys are those of the steps in their order, each costs 1, and all differ.
 *
 * Answers the time, the cells of each key's state, and after those of a request, where a plan has calendar windows, -2 if
 * none of them holds the time, else 0.
 * @param peek whether requests only look
 */
export function decideStraightLua(steps: readonly StraightStep[], peek: boolean): string {
  const parts = steps.map((step, i) => textOf(step, i + 1, peek))
  const isTimed = !peek && steps.some(({ twin }) => twin.noWindow !== undefined)
  const sent = steps.flatMap(({ twin, words }, i) => (words === undefined ? planNames(twin, i + 1) : []))
  const each = (text: (n: number) => string): string => parts.map((_, i) => text(i + 1)).join(', ')
  const room = ['at', ...steps.flatMap(({ twin }) => cellNames(twin).map(() => 0)), ...(isTimed ? [0] : [])]
  const text = `
-- Clients read integers that close to 2^53 wrongly.
local BIG = 9007199254740900
${sent.length === 0 ? '' : `local ${sent.join(', ')} = ${sent.map((_, i) => `args[${i + 2}] + 0`).join(', ')}`}
${parts.map(({ names }) => names).join('\n')}
local i, count, texts, tills = ${sent.length + 2}, #KEYS / ${steps.length}, call('MGET', unpack(KEYS)), false
if args[i] then count, tills = (#args - i + 1) / ${steps.length * WORDS_PER_STEP}, {} end
local reply, n, seen, lastTill, tillText = { ${room.join(', ')} }, 1, 0
for request = 0, count - 1 do
  local ${each((n) => `k${n}`)} = ${each((n) => `request * ${steps.length} + ${n}`)}
  local ${each((n) => `cost${n}, phase${n}`)} = ${each(() => '1, 0')}
  if tills then
    ${parts.map((_, i) => `k${i + 1}, cost${i + 1}, phase${i + 1} = ${[0, 1, 2].map((word) => `args[i + ${i * WORDS_PER_STEP + word}] + 0`).join(', ')}`).join('\n    ')}
    i = i + ${steps.length * WORDS_PER_STEP}
  end
${parts.map(({ read }) => read).join('')}
  ${peek ? '' : `local allowed = ${admittedLua(steps)}`}
  ${isTimed ? `local missing = allowed and (${parts.flatMap(({ missing }) => missing ?? []).join(' or ')})\n  n = n + 1\n  reply[n] = missing and -2 or 0\n  if missing then allowed = false end` : ''}
  ${peek ? '' : `if allowed then${parts.map(({ charge }) => charge).join('')}\n  end`}
end
if tills then
  for k = 1, #KEYS do
    if tills[k] then call('SET', KEYS[k], texts[k], 'PXAT', tills[k]) end
  end
end
return reply
`
  return steps.reduce((all, { twin, words }, i) => {
    if (words === undefined) return all
    const names = planNames(twin, i + 1)
    return all.replace(new RegExp(`\\bp${i + 1}_\\w+`, 'g'), (name) => words[names.indexOf(name)]!)
  }, text)
}

/** As `admitted` of core/decide/combine.ts. */
function admittedLua(steps: readonly StraightStep[]): string {
  const of = (role: Role): string[] => steps.flatMap((step, i) => (step.role === role ? [`ok${i + 1}`] : []))
  const quotas = of('quota')
  const all = [...of('enforce'), ...(quotas.length === 0 ? [] : [`(${quotas.join(' or ')})`])]
  return all.length === 0 ? 'true' : all.join(' and ')
}

interface StepText {
  /** Declares the cells, and the functions of the twin. */
  readonly names: string
  /** Reads the state, puts it in the reply, and makes `ok`. */
  readonly read: string
  /** Whether a charge needs a window that is not there. */
  readonly missing: string | undefined
  /** Charges the state, if its step is charged. */
  readonly charge: string
}

function textOf({ twin, role, words }: StraightStep, n: number, peek: boolean): StepText {
  const names = cellNames(twin, n)
  const cells = names.join(', ')
  const form = `'<${'d'.repeat(names.length)}'`
  const hasUnit = words === undefined || words[3] !== '1'
  const isCharged = role === 'enforce' ? `cost${n} > 0` : `ok${n} and cost${n} > 0`
  const { once } = twin
  const own = (text: string): string => straight(text, twin, n)
  return {
    names: `local ${cells}
${peek ? '' : straightFunctions(twin, ['noWindow'], n)}`,
    read: `
  local text = texts[k${n}]
  if text then ${cells} = parse(${form}, text) else ${cells} = ${names.map(() => 0).join(', ')} end
  if k${n} > seen then
    seen = k${n}
    if ${names.map((name) => `${name} < BIG`).join(' and ')} then
      ${names.map((_, i) => `reply[n + ${i + 1}]`).join(', ')} = ${cells}
    else
      ${names.map((_, i) => `reply[n + ${i + 1}]`).join(', ')} = ${names.map((name) => `format('%.0f', ${name})`).join(', ')}
    end
    n = n + ${names.length}
  end
${
  peek
    ? ''
    : `  local last${n}, instant${n} = c${n}_1 - phase${n}, at < c${n}_1 and c${n}_1 or at
  local now${n} = instant${n} - phase${n}
  ${hasUnit ? own(`if p.unit > 1 then last${n}, now${n} = floor(last${n} / p.unit), floor(now${n} / p.unit) end`) : ''}
  local ${['left', ...(once?.shared ?? [])].map((name) => `${name}${n}`).join(', ')}
  do
    local last, now = last${n}, now${n}
    ${once === undefined ? inlined(twin, 'remaining', `left${n}`, n) : inlinedOnce(twin, 'read', n)}
  end
  local ok${n} = cost${n} == 0 or cost${n} <= left${n}
`
}`,
    missing: twin.noWindow === undefined ? undefined : `${isCharged} and noWindow${n}(now${n})`,
    charge: `
    if ${isCharged} then
      local last, now, cost, phase, pause = last${n}, now${n}, cost${n}, phase${n}
      ${once === undefined ? chargedLua(twin, n) : `${inlinedOnce(twin, 'charge', n)}\n      c${n}_1 = instant${n}`}
      ${own(tillLua)}
      if till ~= lastTill then lastTill, tillText = till, ${tillTextLua} end
      if tills then
        texts[k${n}], tills[k${n}] = pack(${form}, ${cells}), tillText
      else
        call('SET', KEYS[k${n}], pack(${form}, ${cells}), 'PXAT', tillText)
      end
    end
`,
  }
}

/** Charges, and makes `pause`, the wait until the state equals none. */
function chargedLua(twin: Twin, n: number): string {
  return `${inlined(twin, 'charge', 'pause', n)}
      c${n}_1, last, cost = instant${n}, now, ${straight('p.capacity', twin, n)}
      ${inlined(twin, twin.idle === undefined ? 'wait' : 'idle', 'pause', n)}`
}
