import { SluiceError } from '@sluice/limiter'
import type { Position } from '@sluice/limiter/errors'

/** One mistake in a rulebook, and where it stands. A file that cannot be read at all has its mistake at 1:1. */
export interface FileProblem extends Position {
  readonly message: string
  /** The right name nearest to a wrong one. */
  readonly hint?: string
}

/**
 * `file:line:column: message (did you mean "hint"?)`, on one line.
 * @example
 * formatProblem({ file: 'shop.yaml', line: 3, column: 5, message: 'unknown field "lmit"', hint: 'limit' })
 * // 'shop.yaml:3:5: unknown field "lmit" (did you mean "limit"?)'
 */
export function formatProblem({ file, line, column, message, hint }: FileProblem): string {
  const question = hint === undefined ? '' : ` (did you mean ${JSON.stringify(hint)}?)`
  return `${file}:${line}:${column}: ${message}${question}`
}

/** How many problems an error's message lists; `problems` has them all. */
const MOST_PROBLEMS = 20

/**
 * A rulebook that cannot be used, with every mistake found in it. `code` is `ERR_SLUICE_RULEBOOK`.
 * @example
 * if (error instanceof RulebookError) console.error(error.problems.map(formatProblem).join('\n'))
 */
export class RulebookError extends SluiceError {
  readonly problems: readonly FileProblem[]

  /** @param count how many there are, where these are only the first */
  constructor(problems: readonly FileProblem[], count: number = problems.length) {
    const shown = problems.slice(0, MOST_PROBLEMS)
    const lines = shown.map(formatProblem)
    if (count > shown.length) lines.push(`and ${count - shown.length} more`)
    super('ERR_SLUICE_RULEBOOK', lines.join('\n'))
    this.problems = problems
  }
}
