import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileProblem } from './problem.ts'
import { MAX_FILE_BYTES, TOO_LARGE } from './syntax/parse.ts'

/** Rule files that one load may have, and folders within folders. */
const MAX_FILES = 10_000
const MAX_FOLDER_DEPTH = 16
const TOO_MANY = `is one more than the ${MAX_FILES} files that a rulebook may have`

/** What was found. */
export interface RulePaths {
  /** Paths as they were given or come upon, by the real path of the file. */
  readonly files: ReadonlyMap<string, string>
  readonly problems: readonly FileProblem[]
  /** Differs when any file does. */
  readonly state: string
  /** When a file or a folder changed last: milliseconds since the epoch. */
  readonly changed: number
}

interface Search {
  readonly states: string[]
  changed: number
  readonly files: Map<string, string>
  readonly folders: Set<string>
  readonly problems: FileProblem[]
}

/**
 * The rule files at `paths`: files as they are, and every *.yaml and *.yml below folders, in the order of names.
 * Links are followed, and what is reached twice counts once. Names that begin with a dot are passed over: a mounted
 * ConfigMap keeps its versions under such names.
 */
export async function rulePaths(paths: readonly string[]): Promise<RulePaths> {
  const search: Search = { states: [], changed: 0, files: new Map(), folders: new Set(), problems: [] }
  for (const path of paths) await visit(search, path, 0)
  const { files, problems, states, changed } = search
  return { files, problems, state: [...states, ...problems.map(({ file }) => file)].join('\n'), changed }
}

async function visit(search: Search, path: string, depth: number): Promise<void> {
  const isRules = depth === 0 || /\.ya?ml$/.test(path)
  try {
    const [real, stats] = await Promise.all([realpath(path), stat(path)])
    if (isRules || stats.isDirectory())
      search.changed = Math.max(search.changed, stats.mtimeMs, stats.ctimeMs)
    if (stats.isDirectory()) await enter(search, path, real, depth)
    else if (!isRules) return
    else if (!stats.isFile()) refuse(search, path, 'is neither a file nor a folder')
    else if (stats.size > MAX_FILE_BYTES) refuse(search, path, TOO_LARGE)
    else if (search.files.size === MAX_FILES) refuse(search, path, TOO_MANY)
    else if (!search.files.has(real)) {
      search.files.set(real, path)
      search.states.push(`${path} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`)
    }
  } catch (error) {
    if (isRules) refuse(search, path, unreadable(error))
  }
}

async function enter(search: Search, folder: string, real: string, depth: number): Promise<void> {
  if (search.folders.has(real)) return
  search.folders.add(real)
  if (depth === MAX_FOLDER_DEPTH)
    return refuse(search, folder, `lies more than ${MAX_FOLDER_DEPTH} folders deep`)
  const before = search.files.size + search.problems.length
  for (const name of (await readdir(folder)).sort()) {
    if (!name.startsWith('.')) await visit(search, join(folder, name), depth + 1)
  }
  const after = search.files.size + search.problems.length
  if (depth === 0 && before === after) refuse(search, folder, 'holds no *.yaml or *.yml file')
}

function refuse({ problems }: Search, file: string, message: string): void {
  problems.push({ file, line: 1, column: 1, message })
}

/** What the system said, without its own names for calls. */
export function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file or folder'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read'
  return `cannot be read (${String(code ?? error)})`
}
