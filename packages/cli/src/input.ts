import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Io } from './io.ts'
import { UsageError } from './usage-error.ts'

/** A file that was named, or standard input. */
interface Input {
  /** As messages call it. */
  readonly name: string
  readonly bytes: Readable
}

/** Opens `path`, or standard input for `-`. @throws UsageError when there is no such file */
function openInput(path: string, { stdin }: Io): Input {
  if (path === '-') return { name: 'standard input', bytes: stdin }
  try {
    if (statSync(path).isDirectory()) throw new UsageError(`cannot read ${path}: it is a folder`)
    return { name: path, bytes: createReadStream(path) }
  } catch (error) {
    throw cannotRead(path, error)
  }
}

/** The whole text of `path`, of at most `limit` bytes. @throws UsageError */
export async function readText(path: string, limit: number, io: Io): Promise<string> {
  const { name, bytes } = openInput(path, io)
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of bytes) {
      length += (chunk as Buffer).length
      if (length > limit) throw new UsageError(`${name} is larger than ${limit / 1_048_576} MiB`)
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    throw cannotRead(name, error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
}

/** What the system says of a file, in words. */
function cannotRead(name: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException)?.code
  if (typeof code !== 'string' || error instanceof UsageError) return error
  return new UsageError(
    `cannot read ${name}: ${Object.hasOwn(REASONS, code) ? REASONS[code] : (error as Error).message}`,
  )
}
