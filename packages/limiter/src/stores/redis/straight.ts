import { parameters, type Twin } from '../../core/decide/twin.ts'

/**
 * A twin for scripts that know which plans they decide by: the fields of the plan of step 1 are the local variables
 * `p1_limit`, `p1_1`…, a cell of its state is `c1_2`, and no function takes `p` or `c`. A table of fields costs a look-up
 * for each use, and in a state that is one string nothing else needs a table: this takes a third off the server's time
 * for a decision.
 *
 * The same text either way, so what a twin says in one form it says in the other. It must name what it uses: `c[2]`,
 * never `c[i]`.
 */
export function straight(text: string, { keeps }: Twin, step = 1): string {
  const named = withoutDivisions(text)
    .replace(/\bp\.(\w+)/g, `p${step}_$1`)
    .replace(/\bp\[(\d)\]/g, `p${step}_$1`)
  if (keeps !== 'cells') return named.replace(/\(p(?:, |(?=\)))/g, '(')
  return named.replace(/\bc\[(\d)\]/g, `c${step}_$1`).replace(/\((?:p, c|p|c)(?:, |(?=\)))/g, '(')
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
export function planNames({ extraCount = 0 }: Twin, step = 1): readonly string[] {
  const common = ['capacity', 'limit', 'period', 'unit', 'ceiling'].map((name) => `p${step}_${name}`)
  return [...common, ...Array.from({ length: extraCount }, (_, i) => `p${step}_${i + 1}`)]
}

export function cellNames({ size = 0 }: Twin, step = 1): readonly string[] {
  return Array.from({ length: size }, (_, i) => `c${step}_${i + 1}`)
}

/** A body of a twin that decisions need. */
type DecideBody = 'remaining' | 'wait' | 'charge' | 'idle' | 'noWindow'

/** A twin's own functions, and bodies of it as functions, each with the step's number after its name: `wait1`. */
export function straightFunctions(twin: Twin, bodies: readonly DecideBody[], step = 1): string {
  const own = bodies.flatMap((name) =>
    twin[name] === undefined ? [] : [`local function ${name}(${parameters[name]})\n${twin[name]}\nend`],
  )
  const text = [twin.locals ?? '', ...own, ''].join('\n')
  return straight(numbered(text, text, step), twin, step)
}

/**
 * A body where it would be called, which saves the server a function: it finds its parameters in variables of their
 * names, and puts what it returns into `into`. It must have no loop.
 */
export function inlined(twin: Twin, name: DecideBody, into: string, step: number): string {
  const body = twin[name]!.replace(/\breturn\b(.*?)(?= end\b|$)/gm, `${into} =$1 break`)
  return straight(numbered(`repeat\n${body}\nuntil true`, twin.locals ?? '', step), twin, step)
}

/** The part of a twin that shares what it computes with another: the names of that have the step's number after them. */
export function inlinedOnce(twin: Twin, name: 'read' | 'charge', step: number): string {
  const { shared, [name]: text } = twin.once!
  const names = new RegExp(`(?<![.\\w])(?:${['left', ...shared].join('|')})\\b`, 'g')
  return straight(text.replace(names, `$&${step}`), twin, step)
}

/** Puts the step's number after the names of the functions that `functions` has, wherever `text` names them. */
function numbered(text: string, functions: string, step: number): string {
  const names = [...functions.matchAll(/^local function (\w+)/gm)].map(([, name]) => name)
  if (names.length === 0) return text
  return text.replace(new RegExp(`(?<![.\\w])(?:${names.join('|')})\\b`, 'g'), `$&${step}`)
}
