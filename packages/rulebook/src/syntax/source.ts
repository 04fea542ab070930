import type { Position } from '@sluice/limiter/errors'
import type { LineCounter } from 'yaml'
import type { Problem } from '../problem.ts'
import type { Spot } from './tree.ts'

/** Keys and list indexes from a file's root to one of its nodes. */
export type Path = readonly PropertyKey[]

/** A file's content, and where each of its nodes stands. */
export interface Source {
  readonly file: string
  readonly root: Spot
  readonly lines: LineCounter
}

/** Notes a problem with the node at a path. */
export type Report = (path: Path, message: string, extra?: Extra) => void

interface Extra {
  /** Points at the key that names the node rather than at the node. */
  readonly part?: 'key' | 'value'
  readonly hint?: string | undefined
}

/** The node at `path`; `undefined` where there is none. */
export function spotAt(source: Source, path: Path): Spot | undefined {
  let spot: Spot | undefined = source.root
  for (const part of path) spot = spot?.children?.get(part)
  return spot
}

/** The scalar at `path` as it is written, without quotes; empty where there is none. */
export function textAt(source: Source, path: Path): string {
  return spotAt(source, path)?.text ?? ''
}

/** Where the node at `path` begins, or its key. What is missing is reported at the key of what lacks it. */
export function positionOf(source: Source, path: Path, part: 'key' | 'value' = 'value'): Position {
  const spot = spotAt(source, path)
  if (spot === undefined) return positionOf(source, path.slice(0, -1), 'key')
  return {
    file: source.file,
    ...lineAndColumn(source.lines, (part === 'key' ? spot.key : undefined) ?? spot.at),
  }
}

export function lineAndColumn(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return line === 0 ? { line: 1, column: 1 } : { line, column: col }
}

export function problemAt(source: Source, path: Path, message: string, { part, hint }: Extra = {}): Problem {
  return { ...positionOf(source, path, part), message, ...(hint !== undefined && { hint }) }
}

/** How messages call the node at `path`: `"burst"`, `item 2 of "key"`. */
export function nameOf(path: Path): string {
  const last = path.at(-1)
  if (last === undefined) return 'a rulebook'
  return typeof last === 'number'
    ? `item ${last + 1} of ${nameOf(path.slice(0, -1))}`
    : JSON.stringify(String(last))
}
