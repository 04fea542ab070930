import { nearest } from '@sluice/limiter/errors'
import type { z } from 'zod'
import { shown } from '../mistake.ts'
import type { Problem } from '../problem.ts'
import { nameOf, type Path, problemAt, type Source, spotAt } from '../syntax/source.ts'
import type { Spot } from '../syntax/tree.ts'

/** A schema's finding; whoever read a value may have added to it. */
type Issue = z.core.$ZodIssue & { readonly hint?: string; readonly part?: 'key' }

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number in plain digits',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
}

/** Fields beside which any name may stand: there, a misspelt one is no unknown field. */
const AMONG_PLANS = ['by', 'otherwise']

/** What the schema found wrong with the node at `base`, in plain words: one problem for each position. */
export function problemsOf(source: Source, base: Path, issues: readonly Issue[]): Problem[] {
  const found = issues.flatMap((issue) => explain(source, base, issue))
  const misspelt = new Set(found.map(({ hint }) => hint && isMissing(hint)))
  const first = new Map<string, Problem>()
  for (const problem of found) {
    const position = `${problem.line}:${problem.column}`
    if (!first.has(position) && !misspelt.has(problem.message)) first.set(position, problem)
  }
  return [...first.values()]
}

function explain(source: Source, base: Path, issue: Issue): Problem[] {
  const path = [...base, ...issue.path]
  const spot = spotAt(source, path)
  if (spot === undefined) return [missing(source, path)]
  if (issue.code === 'custom') return [problemAt(source, path, issue.message, issue)]
  if (spot.value === null) return [problemAt(source, path, `${nameOf(path)} is empty`)]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknown(source, [...path, key], issue.message.split(' ')))
  }
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.find((errors) => !errors.some(isOfOtherType))
    if (branch !== undefined) return branch.flatMap((inner) => explain(source, path, inner))
  }
  return [problemAt(source, path, `${nameOf(path)} ${demand(issue, spot)}`, { hint: hintOf(issue, spot) })]
}

/** A branch of a union that begins with something else altogether. */
function isOfOtherType(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0
}

function missing(source: Source, path: Path): Problem {
  const name = String(path.at(-1))
  const parent = path.slice(0, -1)
  const others = [...(spotAt(source, parent)?.children?.keys() ?? [])].map(String)
  const plans = AMONG_PLANS.includes(name) ? others.filter((other) => !AMONG_PLANS.includes(other)) : []
  const typed = nearest(name, plans)
  if (typed === undefined) return problemAt(source, path, isMissing(name))
  const message = `${shown(typed)} would be a plan, and ${isMissing(name)}`
  return problemAt(source, [...parent, typed], message, { part: 'key', hint: name })
}

function isMissing(name: string): string {
  return `${JSON.stringify(name)} is missing`
}

function unknown(source: Source, path: Path, known: readonly string[]): Problem {
  const name = String(path.at(-1))
  const hint = nearest(name, known)
  const list = hint === undefined ? `; fields here are ${known.join(', ')}` : ''
  return problemAt(source, path, `unknown field ${shown(name)}${list}`, { part: 'key', hint })
}

/** What the value must be, and what it is instead. */
function demand(issue: Issue, spot: Spot): string {
  const said = saidAt(spot)
  if (issue.message !== '') return `${issue.message}, not ${said}`
  switch (issue.code) {
    case 'invalid_type': {
      const quotes = issue.expected === 'string' && spot.children === undefined ? ': put it in quotes' : ''
      return `must be ${nounOf(issue)}, not ${said}${quotes}`
    }
    case 'invalid_union':
      return `must be ${issue.errors.map(([first]) => nounOf(first!)).join(' or ')}, not ${said}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}, not ${said}`
    case 'too_small':
      return issue.origin === 'number'
        ? `must be at least ${issue.minimum}, not ${said}`
        : 'must not be empty'
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must not be longer than ${issue.maximum}`
        : `must be at most ${issue.maximum === Number.MAX_SAFE_INTEGER ? '2^53−1' : issue.maximum}, not ${said}`
    default:
      return `cannot be ${said}`
  }
}

function nounOf(issue: Issue): string {
  return issue.code === 'invalid_type' ? (NOUNS[issue.expected] ?? issue.expected) : 'something else'
}

function saidAt({ value, text, children }: Spot): string {
  if (children !== undefined) return Array.isArray(value) ? 'a list' : 'a map'
  return typeof value === 'string' ? shown(text) : text.slice(0, 40)
}

function hintOf(issue: Issue, { text }: Spot): string | undefined {
  if (issue.code === 'invalid_value') return nearest(text, issue.values.map(String))
  if (issue.code !== 'invalid_type' || issue.expected !== 'boolean') return undefined
  if (/^(?:y|yes|on|true)$/i.test(text)) return 'true'
  return /^(?:n|no|off|false)$/i.test(text) ? 'false' : undefined
}
