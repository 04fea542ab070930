import type { Domain } from '@sluice/limiter/rules'
import { z } from 'zod'
import { type Problem, RulebookError } from './problem.ts'
import { descriptorOf, descriptorSchema } from './rules/descriptors.ts'
import { fields, type Word, word } from './rules/fields.ts'
import { problemsOf } from './rules/issues.ts'
import { limitOf, limitSchema } from './rules/limits.ts'
import { parse } from './syntax/parse.ts'
import { type Path, problemAt, type Report, type Source, spotAt, textAt } from './syntax/source.ts'

/** One file's rules. Where they stand is told by their indexes: rule 2 of `limits` is at `['limits', 2]`. */
export interface RuleFile {
  readonly source: Source
  readonly domain: Domain
}

/** What a file holds. {@link readRuleFile} goes through the lists item by item, so that one mistake hides no other. */
export const fileSchema: z.ZodType<unknown> = fileOf(limitSchema, descriptorSchema)
const frameSchema = fileOf(z.unknown(), z.unknown())

function fileOf<L, D>(limit: z.ZodType<L>, descriptor: z.ZodType<D>): z.ZodType<Frame<L, D>> {
  return fields({
    domain: word.describe('Namespace of the rules; callers name it.'),
    limits: z.array(limit).describe('Named limits over the attributes of requests.').exactOptional(),
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
  const problems: Problem[] = []
  const report: Report = (path, message, extra) => problems.push(problemAt(source, path, message, extra))

  checked(frameSchema, source.root.value, [])
  const domain: Domain = {
    name: textAt(source, ['domain']),
    limits: items('limits', limitSchema, limitOf),
    descriptors: items('descriptors', descriptorSchema, descriptorOf),
  }
  if (problems.length > 0) throw new RulebookError(inOrder(problems))
  return { source, domain }

  function checked<T>(schema: z.ZodType<T>, value: unknown, path: Path): T | undefined {
    const { data, error } = schema.safeParse(value, { error: () => '' })
    for (const problem of problemsOf(source, path, error?.issues ?? [])) problems.push(problem)
    return data
  }

  function items<T, R>(
    list: string,
    schema: z.ZodType<T>,
    make: (written: T, source: Source, path: Path, report: Report) => R,
  ): R[] {
    const values = spotAt(source, [list])?.value
    return (Array.isArray(values) ? values : []).flatMap((value, index) => {
      const path = [list, index]
      const written = checked(schema, value, path)
      return written === undefined ? [] : [make(written, source, path, report)]
    })
  }
}

/** By position, each told once. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const told = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]),
  )
  return [...told.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}
