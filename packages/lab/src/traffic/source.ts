import { createReadStream, statSync } from 'node:fs'
import { globSync, isDynamicPattern } from 'tinyglobby'
import { LabError } from '../lab-error.ts'

/** A log: a file, or bytes that come from elsewhere. */
export interface TrafficSource {
  /** As messages call it. */
  readonly name: string
  /** Bytes, where it is known. */
  readonly size: number | undefined
  /** From its beginning on. What cannot be read again is opened once. */
  open(): AsyncIterable<Buffer>
  /** Whether it can be opened again. */
  readonly isRepeatable: boolean
}

const CHUNK = 1 << 18

/**
 * The files that paths name: files, folders (all files in them and below, but those whose name begins with a dot), and
 * globs such as `logs/*.gz`.
 * @throws LabError where a path names nothing
 * @example
 * const traffic = sourcesOf(['/var/log/nginx/access.log*'])
 */
export function sourcesOf(paths: readonly string[]): TrafficSource[] {
  const files = paths.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory()) return filesIn(path, ['**/*'], path)
    if (stats !== undefined || !isDynamicPattern(path)) return [path]
    return filesIn('.', [path], path)
  })
  return [...new Set(files)].map(fileSource)
}

function filesIn(folder: string, patterns: readonly string[], named: string): string[] {
  const found = globSync([...patterns], { cwd: folder, onlyFiles: true, expandDirectories: false }).sort()
  if (found.length === 0) throw new LabError(`cannot read ${named}: there is no file in it`)
  return found.map((file) => (folder === '.' ? file : `${folder.replace(/\/$/, '')}/${file}`))
}

function fileSource(path: string): TrafficSource {
  try {
    const stats = statSync(path)
    return {
      name: path,
      size: stats.isFile() ? stats.size : undefined,
      isRepeatable: stats.isFile(),
      open: () => createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>,
    }
  } catch (error) {
    throw unreadableSource(path, error)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  Z_DATA_ERROR: 'its gzip data are damaged',
  Z_BUF_ERROR: 'its gzip data end too early',
}

/** What went wrong with a source, with its name. */
export function unreadableSource(name: string, error: unknown): unknown {
  if (error instanceof LabError)
    return error.cause === undefined ? error : new LabError(`cannot read ${name}: ${error.message}`)
  const { code, message } = error as NodeJS.ErrnoException
  if (typeof code !== 'string') return error
  return new LabError(`cannot read ${name}: ${Object.hasOwn(REASONS, code) ? REASONS[code] : message}`)
}
