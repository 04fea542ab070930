import type { Domain } from '@sluice/limiter/rules'
import { z } from 'zod'
import { type FileProblem, RulebookError } from './problem.ts'
import { descriptorOf, descriptorSchema } from './rules/descriptors.ts'
import { mapOf, type Word, word } from './rules/fields.ts'
import { problemsOf } from './rules/issues.ts'
import { limitOf, limitSchema } from './rules/limits.ts'
import { parse } from './syntax/parse.ts'
import { type FileSource, nodeAt, type Path, problemAt, type Reporter, scalarAt } from './syntax/source.ts'

/** One file's rules. Their indexes say where they stand: rule 2 of `limits` is at `['limits', 2]`. */
export interface RuleFile {
  readonly source: FileSource
  readonly domain: Domain
}

/** What a file holds. {@link readRuleFile} goes through the lists item by item, so that one mistake hides no other. */
export const fileSchema: z.ZodType<unknown> = fileOf(limitSchema, descriptorSchema)
const frameSchema = fileOf(z.unknown(), z.unknown())

function fileOf<L, D>(limit: z.ZodType<L>, descriptor: z.ZodType<D>): z.ZodType<Frame<L, D>> {
  return mapOf({
    domain: word.describe('Namespace of the rules; callers name it.'),
    limits: z.array(limit).min(1).describe('Named limits over the attributes of requests.').exactOptional(),
    descriptors: z
      .array(descriptor)
      .nullable()
      .describe('Limits in envoyproxy/ratelimit’s format.')
      .exactOptional(),
  })
}

interface Frame<L, D> {
  readonly domain: Word
  readonly limits?: readonly L[]
  readonly descriptors?: readonly D[] | null
}

/** @throws RulebookError with every mistake in the file, in file order. */
export function readRuleFile(text: string, file: string): RuleFile {
  const source = parse(text, file)
  const problems: FileProblem[] = []
  const report: Reporter = (path, message, extra) => problems.push(problemAt(source, path, message, extra))

  checked(frameSchema, source.root.value, [])
  const domain: Domain = {
    name: scalarAt(source, ['domain']),
    limits: items('limits', limitSchema, limitOf),
    descriptors: items('descriptors', descriptorSchema, descriptorOf),
  }
  if (problems.length > 0) throw new RulebookError(inOrder(problems))
  if (domain.limits.length + domain.descriptors.length === 0) {
    report(['domain'], 'no limits and no descriptors follow: a file cut short would lift every limit')
    throw new RulebookError(problems)
  }
  return { source, domain }

  function checked<T>(schema: z.ZodType<T>, value: unknown, path: Path): T | undefined {
    const { data, error } = schema.safeParse(value, { error: () => '' })
    for (const problem of problemsOf(source, path, error?.issues ?? [])) problems.push(problem)
    return data
  }

  function items<T, R>(
    list: string,
    schema: z.ZodType<T>,
    make: (written: T, source: FileSource, path: Path, report: Reporter) => R,
  ): R[] {
    const values = nodeAt(source, [list])?.value
    return (Array.isArray(values) ? values : []).flatMap((value, index) => {
      const path = [list, index]
      const written = checked(schema, value, path)
      return written === undefined ? [] : [make(written, source, path, report)]
    })
  }
}

/** By position, each reported once. */
function inOrder(problems: readonly FileProblem[]): FileProblem[] {
  const reported = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]),
  )
  return [...reported.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}
