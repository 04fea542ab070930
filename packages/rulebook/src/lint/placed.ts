import type { Hint } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import { type FileSource, type Path, positionOf, problemAt } from '../syntax/source.ts'

/** A rule, and where it stands. */
export interface Placed<T> {
  readonly rule: T
  readonly source: FileSource
  readonly path: Path
}

/** A problem with a field of the rule. */
export function problemIn(
  { source, path }: Placed<unknown>,
  field: Path,
  message: string,
  hint?: Hint,
): FileProblem {
  return problemAt(source, [...path, ...field], message, { hint })
}

/** `shop.yaml:12:5`, for messages that point at another rule. */
export function placeOf({ source, path }: Placed<unknown>): string {
  const { file, line, column } = positionOf(source, path)
  return `${file}:${line}:${column}`
}
