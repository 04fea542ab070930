import { parameters, type Twin } from '../../core/decide/twin.ts'

/**
 * A twin for scripts that know one plan and one state at a time: its fields are the local variables `p_limit`, `p_1`…,
 * a cell is `c_2`, and no function takes `p` or `c`. A table of fields costs a look-up for each use, and in a state
 * that is one string nothing else needs a table: this takes a third off the server's time for a decision.
 *
 * The same text either way, so what a twin says in one form it says in the other. It must name what it uses: `c[2]`,
 * never `c[i]`.
 */
export function straight(text: string, { keeps }: Twin): string {
  const named = withoutDivisions(text)
    .replace(/\bp\.(\w+)/g, 'p_$1')
    .replace(/\bp\[(\d)\]/g, 'p_$1')
  if (keeps !== 'cells') return named.replace(/\(p(?:, |(?=\)))/g, '(')
  return named.replace(/\bc\[(\d)\]/g, 'c_$1').replace(/\((?:p, c|p|c)(?:, |(?=\)))/g, '(')
}

/** The functions of integers.lua.ts are calls of `floor` and `ceil`, which can stand where they are called. */
function withoutDivisions(text: string): string {
  const found = /\b(floor|ceil)Div\(/.exec(text)
  if (found === null) return text
  const after = text.slice(found.index + found[0].length)
  let depth = 0
  let comma = 0
  let end = 0
  for (; depth >= 0; end++) {
    const sign = after[end]
    if (sign === '(') depth++
    else if (sign === ')') depth--
    else if (sign === ',' && depth === 0) comma = end
  }
  const quotient = `(${after.slice(0, comma)}) / (${after.slice(comma + 2, end - 1)})`
  return `${text.slice(0, found.index)}${found[1]}(${withoutDivisions(quotient)})${withoutDivisions(after.slice(end))}`
}

/** Leaves out the functions that nothing calls: the server makes each anew for each call of a script. */
export function withoutUnused(text: string): string {
  const functions = text.match(/^local function [\s\S]*?^end\n/gm) ?? []
  return functions.reduceRight((left, own) => {
    const name = /^local function (\w+)/.exec(own)![1]!
    return left.split(new RegExp(`\\b${name}\\b`)).length > 2 ? left : left.replace(own, '')
  }, text)
}

/** The names of a plan's fields, in the order in which calls bring them. */
export function planNames({ extraCount = 0 }: Twin): readonly string[] {
  const common = ['capacity', 'limit', 'period', 'unit', 'ceiling'].map((name) => `p_${name}`)
  return [...common, ...Array.from({ length: extraCount }, (_, i) => `p_${i + 1}`)]
}

export function cellNames({ size = 0 }: Twin): readonly string[] {
  return Array.from({ length: size }, (_, i) => `c_${i + 1}`)
}

/** The functions of a twin, for a decision. */
export function straightFunctions(twin: Twin): string {
  const bodies = (['remaining', 'wait', 'charge', 'delay', 'idle', 'noWindow'] as const).flatMap((name) =>
    twin[name] === undefined ? [] : [`local function ${name}(${parameters[name]})\n${twin[name]}\nend`],
  )
  return straight([twin.locals ?? '', ...bodies].join('\n'), twin)
}
