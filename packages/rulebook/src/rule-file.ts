import type { Descriptor, Limit, NetworkLimit } from '@sluice/limiter/rules'
import type { z } from 'zod'
import { frameSchema } from './file-schema.ts'
import type { Placed } from './lint/placed.ts'
import type { LoadOptions } from './load-options.ts'
import type { FileProblem } from './problem.ts'
import { descriptorOf, descriptorSchema } from './rules/descriptors.ts'
import { problemsOf } from './rules/issues.ts'
import { limitOf, limitSchema } from './rules/limits.ts'
import { networkLimitOf, networkLimitSchema } from './rules/network.ts'
import { plainDescriptor, plainLimit } from './rules/plain-rules.ts'
import { restOf } from './rules/rest.ts'
import { parse } from './syntax/parse.ts'
import { type FileSource, nodeAt, type Path, problemAt, type Reporter, scalarAt } from './syntax/source.ts'
import type { TreeNode } from './syntax/tree.ts'

/** One file's rules, those that are right enough to be held against others. */
export interface RuleFile {
  readonly source: FileSource
  readonly name: string
  readonly limits: readonly Placed<Limit>[]
  readonly descriptors: readonly Placed<Descriptor>[]
  readonly network: readonly Placed<NetworkLimit>[]
  /** The names that stand in its two lists, also those of rules that are wrong otherwise. */
  readonly names: { readonly limits: readonly string[]; readonly descriptors: readonly string[] }
  readonly problems: readonly FileProblem[]
}

/** @throws RulebookError where the file cannot be taken apart; other mistakes are in `problems`, in file order */
export function readRuleFile(text: string, file: string, options: LoadOptions = {}): RuleFile {
  const { source, problems: found } = parse(text, file)
  const problems = [...found]
  const lines = new Set(found.map(({ line }) => line))
  /** What does not follow from what was found in the same place already. */
  const add = (problem: FileProblem): void => {
    if (!lines.has(problem.line) || found.length === 0) problems.push(problem)
  }

  checked(frameSchema, source.root.value, [])
  const limits = items('limits', plainLimit, limitSchema, limitOf, {
    name: 'unnamed',
    key: [],
    limit: '1000000000/s',
  })
  const descriptors = items('descriptors', plainDescriptor, descriptorSchema, descriptorOf, {
    key: 'unnamed',
  })
  const network = items('network', undefined, networkLimitSchema, networkLimitOf, {
    name: 'unnamed',
    port: 1,
    key: [],
    limit: '1/s',
  })
  if (problems.length === 0 && limits.length + descriptors.length + network.length === 0) {
    const message = 'no limits and no descriptors follow: a file cut short would lift every limit'
    problems.push(problemAt(source, ['domain'], message))
  }
  return {
    source,
    name: scalarAt(source, ['domain']),
    limits: limits.filter(({ cut }) => !UNSURE.some((field) => cut.has(field))),
    descriptors,
    network: network.filter(({ cut }) => !cut.has('name')),
    names: {
      limits: [...(nodeAt(source, ['limits'])?.children?.keys() ?? [])].map((index) =>
        scalarAt(source, ['limits', index, 'name']),
      ),
      descriptors: [...namesBelow(nodeAt(source, ['descriptors']))],
    },
    problems: inOrder(problems),
  }

  function checked<T>(schema: z.ZodType<T>, value: unknown, path: Path): Checked<T> {
    const { data, error } = schema.safeParse(value, { error: () => '' })
    for (const problem of problemsOf(source, path, error?.issues ?? [])) add(problem)
    return { data, issues: error?.issues ?? [] }
  }

  /** A rule with mistakes is read without the fields that hold them, to find out what else is wrong. */
  function items<T, R>(
    list: string,
    plain: ((value: unknown) => T | undefined) | undefined,
    schema: z.ZodType<T>,
    make: (written: T, source: FileSource, path: Path, report: Reporter, options: LoadOptions) => R,
    needed: object,
  ): (Placed<R> & { readonly cut: ReadonlySet<PropertyKey> })[] {
    const values = nodeAt(source, [list])?.value
    return (Array.isArray(values) ? values : []).flatMap((value, index) => {
      const path = [list, index]
      const read = plain?.(value)
      const { data, issues } = read === undefined ? checked(schema, value, path) : { data: read, issues: [] }
      const rest =
        data === undefined ? restOf(value, issues, needed) : { value: data, cut: new Set<string>() }
      const written = data ?? schema.safeParse(rest.value).data
      if (written === undefined) return []
      const known = new Set(data === undefined ? problems.map(placeText) : [])
      const report: Reporter = (at, message, extra) => {
        const problem = problemAt(source, at, message, extra)
        if (!known.has(placeText(problem))) add(problem)
      }
      return [{ rule: make(written, source, path, report, options), source, path, cut: rest.cut }]
    })
  }
}

interface Checked<T> {
  readonly data: T | undefined
  readonly issues: readonly z.core.$ZodIssue[]
}

/** Without these a limit may seem to apply where it does not. */
const UNSURE = ['name', 'when', 'key', 'on_missing_key', 'exempt']

/** The names of all limits in a list of descriptors. */
function* namesBelow(list: TreeNode | undefined): Generator<string> {
  for (const { children } of list?.children?.values() ?? []) {
    const name = children?.get('rate_limit')?.children?.get('name')
    if (name !== undefined) yield name.text
    yield* namesBelow(children?.get('descriptors'))
  }
}

function placeText({ line, column }: FileProblem): string {
  return `${line}:${column}`
}

/** By position, each reported once. */
export function inOrder(problems: readonly FileProblem[]): FileProblem[] {
  const reported = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]),
  )
  return [...reported.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}
