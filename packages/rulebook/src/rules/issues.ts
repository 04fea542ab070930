import { nearest } from '@sluice/limiter/errors'
import type { z } from 'zod'
import { type Hint, quoted } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import { type FileSource, fieldNameOf, nodeAt, type Path, problemAt } from '../syntax/source.ts'
import type { TreeNode } from '../syntax/tree.ts'

/** A schema's finding; readers of values add to it. */
type Issue = z.core.$ZodIssue & { readonly hint?: Hint; readonly part?: 'key' }

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
export function problemsOf(source: FileSource, base: Path, issues: readonly Issue[]): FileProblem[] {
  const found = issues.flatMap((issue) => problemsOfIssue(source, base, issue))
  const misspelt = new Set(found.map(({ hint }) => hint && isMissing(hint)))
  const first = new Map<string, FileProblem>()
  for (const problem of found) {
    const position = `${problem.line}:${problem.column}`
    if (!first.has(position) && !misspelt.has(problem.message)) first.set(position, problem)
  }
  return [...first.values()]
}

function problemsOfIssue(source: FileSource, base: Path, issue: Issue): FileProblem[] {
  const path = [...base, ...issue.path]
  const node = nodeAt(source, path)
  if (node === undefined) return [missingProblem(source, path)]
  if (issue.code === 'custom') return [problemAt(source, path, issue.message, issue)]
  if (node.value === null) return [problemAt(source, path, `${fieldNameOf(path)} is empty`)]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownProblem(source, [...path, key], issue.message.split(' ')))
  }
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.find((errors) => !errors.some(isOfOtherType))
    if (branch !== undefined) return branch.flatMap((inner) => problemsOfIssue(source, path, inner))
  }
  return [
    problemAt(source, path, `${fieldNameOf(path)} ${demand(issue, node)}`, { hint: hintOf(issue, node) }),
  ]
}

/** A branch of a union that begins with something else altogether. */
function isOfOtherType(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0
}

function missingProblem(source: FileSource, path: Path): FileProblem {
  const name = String(path.at(-1))
  const parent = path.slice(0, -1)
  const others = [...(nodeAt(source, parent)?.children?.keys() ?? [])].map(String)
  const plans = AMONG_PLANS.includes(name) ? others.filter((other) => !AMONG_PLANS.includes(other)) : []
  const typed = nearest(name, plans)
  if (typed === undefined) return problemAt(source, path, isMissing(name))
  const message = `${quoted(typed)} would be a plan, and ${isMissing(name)}`
  return problemAt(source, [...parent, typed], message, { part: 'key', hint: name })
}

function isMissing(name: string): string {
  return `${JSON.stringify(name)} is missing`
}

function unknownProblem(source: FileSource, path: Path, known: readonly string[]): FileProblem {
  const name = String(path.at(-1))
  const hint = nearest(name, known)
  const list = hint === undefined ? `; fields here are ${known.join(', ')}` : ''
  return problemAt(source, path, `unknown field ${quoted(name)}${list}`, { part: 'key', hint })
}

/** What the value must be, and what it is instead. */
function demand(issue: Issue, node: TreeNode): string {
  const said = saidAt(node)
  if (issue.message !== '') return `${issue.message}, not ${said}`
  switch (issue.code) {
    case 'invalid_type': {
      const quotes = issue.expected === 'string' && node.children === undefined ? ': put it in quotes' : ''
      const list = issue.expected === 'array' && node.children === undefined ? `: write [${node.text}]` : ''
      return `must be ${nounOf(issue)}, not ${said}${quotes}${list}`
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

function saidAt({ value, text, children }: TreeNode): string {
  if (children !== undefined) return Array.isArray(value) ? 'a list' : 'a map'
  return typeof value === 'string' ? quoted(text) : text.slice(0, 40)
}

function hintOf(issue: Issue, { text }: TreeNode): string | undefined {
  if (issue.code === 'invalid_value') return nearest(text, issue.values.map(String))
  if (issue.code !== 'invalid_type' || issue.expected !== 'boolean') return undefined
  if (/^(?:y|yes|on|true)$/i.test(text)) return 'true'
  return /^(?:n|no|off|false)$/i.test(text) ? 'false' : undefined
}
