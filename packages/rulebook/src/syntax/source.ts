import type { Position } from '@sluice/limiter/errors'
import type { Hint } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import type { Lines } from './lines.ts'
import type { TreeNode } from './tree.ts'

/** Keys and list indexes from a file's root to one of its nodes. */
export type Path = readonly PropertyKey[]

/** A file's content, and where each of its nodes stands. */
export interface FileSource {
  readonly file: string
  readonly root: TreeNode
  readonly lines: Lines
  /** How many hints may be looked for yet: for each, a name is compared with hundreds. */
  readonly hints: { left: number }
  /** Quotas, with their rules' options, in which nothing is wrong: thousands of rules have a few. */
  readonly quotas: Set<string>
}

/** Notes a problem with the node at a path. */
export type Reporter = (path: Path, message: string, extra?: Extra) => void

interface Extra {
  /** Points at the key that names the node rather than at the node. */
  readonly part?: 'key' | 'value'
  readonly hint?: Hint | string | undefined
}

/** The node at `path`; `undefined` where there is none. */
export function nodeAt(source: FileSource, path: Path): TreeNode | undefined {
  let node: TreeNode | undefined = source.root
  for (const part of path) node = node?.children?.get(part)
  return node
}

/** The scalar at `path` as it is written, without quotes; empty where there is none. */
export function scalarAt(source: FileSource, path: Path): string {
  return nodeAt(source, path)?.text ?? ''
}

/** Where the node at `path` begins, or its key. What is missing is reported at the key of what lacks it. */
export function positionOf(source: FileSource, path: Path, part: 'key' | 'value' = 'value'): Position {
  const node = nodeAt(source, path)
  if (node === undefined) return positionOf(source, path.slice(0, -1), 'key')
  return {
    file: source.file,
    ...source.lines.placeOf((part === 'key' ? node.key : undefined) ?? node.at),
  }
}

export function problemAt(
  source: FileSource,
  path: Path,
  message: string,
  { part, hint: look }: Extra = {},
): FileProblem {
  const hint = typeof look === 'function' ? (source.hints.left-- > 0 ? look() : undefined) : look
  return { ...positionOf(source, path, part), message, ...(hint !== undefined && { hint }) }
}

/** How messages call the node at `path`: `"burst"`, `item 2 of "key"`. */
export function fieldNameOf(path: Path): string {
  const last = path.at(-1)
  if (last === undefined) return 'a rulebook'
  return typeof last === 'number'
    ? `item ${last + 1} of ${fieldNameOf(path.slice(0, -1))}`
    : JSON.stringify(String(last))
}
