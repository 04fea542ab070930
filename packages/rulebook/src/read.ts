import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { checkOptions, listOf, objectOf, textCheck, wholeFrom } from '@sluice/limiter/options'
import type { FileProblem } from './problem.ts'
import { type RulePaths, rulePaths, unreadable } from './rule-paths.ts'

/** What the files of a rulebook held at one moment. */
export interface RulebookFiles {
  readonly files: readonly FileBytes[]
  /** Files that are missing or cannot be read. */
  readonly problems: readonly FileProblem[]
}

export interface FileBytes {
  readonly path: string
  readonly bytes: Uint8Array
}

export interface ReadOptions {
  /**
   * Milliseconds for which nobody may have written to the files: one that is being written may be cut short, and then
   * lack rules. Default 0: none that is written to while it is read.
   */
  readonly settleMs?: number
}

const PATHS = listOf(textCheck, 'a list of files and folders')
const OPTIONS = objectOf<ReadOptions>({ settleMs: wholeFrom(0) })

/** Looks at files that are being written, before they are refused; between two the settling time, at least this. */
const MOST_LOOKS = 50
const LEAST_WAIT_MS = 10
const MOST_WAIT_MS = 60_000

/**
 * Reads files and folders for {@link parseRulebook}. Files that somebody writes to meanwhile are read again.
 * @returns the files with their bytes; as a problem, what cannot be read, or was written to for too long
 * @example
 * const rulebook = parseRulebook(await readRulebook(['rules/'], { settleMs: 200 }))
 */
export async function readRulebook(
  paths: readonly string[],
  options: ReadOptions = {},
): Promise<RulebookFiles> {
  checkOptions(paths, PATHS, 'paths')
  checkOptions(options, OPTIONS)
  const { settleMs = 0 } = options
  let before: string | undefined
  for (let look = 0; look < MOST_LOOKS; look++) {
    const found = await rulePaths(paths)
    if (found.state === before || Date.now() - found.changed >= settleMs) {
      const read = await readAll(found)
      const after = await rulePaths(paths)
      if (after.state === found.state) return read
    }
    before = found.state
    await wait(Math.min(Math.max(settleMs, LEAST_WAIT_MS), MOST_WAIT_MS))
  }
  const message = 'is written to again and again: write another file, and rename it to this name'
  return { files: [], problems: paths.map((file) => ({ file, line: 1, column: 1, message })) }
}

async function readAll({ files, problems }: RulePaths): Promise<RulebookFiles> {
  const read: FileBytes[] = []
  const all = [...problems]
  for (const path of files.values()) {
    try {
      read.push({ path, bytes: await readFile(path) })
    } catch (error) {
      all.push({ file: path, line: 1, column: 1, message: unreadable(error) })
    }
  }
  return { files: read, problems: all }
}
