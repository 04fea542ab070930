import { readText } from './input.ts'
import type { Io } from './io.ts'
import { UsageError } from './usage-error.ts'

const MAX_SECRET_BYTES = 65_536

/**
 * A setting that may be a secret, from the environment variable `name`, or from the file that `NAME_FILE` names:
 * the arguments of a process can be read by all users of the machine.
 * @throws UsageError where both are set, and for a file that is empty or cannot be read
 */
export async function secretOf(name: string, io: Io): Promise<string | undefined> {
  const value = io.env[name] || undefined
  const path = io.env[`${name}_FILE`] || undefined
  if (path === undefined) return value
  if (value !== undefined) throw new UsageError(`${name} and ${name}_FILE are both set: remove one of them`)
  return readSecret(path, `${name}_FILE`, io)
}

/**
 * The content of a file, without the end of its last line.
 * @param from what names the file, for messages
 * @throws UsageError for a file that is empty or cannot be read
 */
export async function readSecret(path: string, from: string, io: Io): Promise<string> {
  const text = (await readText(path, MAX_SECRET_BYTES, io).catch(namedBy(from))).replace(/\r?\n$/, '')
  if (text === '') throw new UsageError(`${from} names ${path}, which is empty`)
  return text
}

function namedBy(from: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof UsageError ? new UsageError(`${from}: ${error.message}`) : error
  }
}

/** The password in a URL; text of any kind may stand around it. */
const PASSWORD = /(\b[a-z][a-z+]*:\/\/[^\s:@/]*:)[^\s@]+@/gi

/** The same text without the passwords of the URLs in it. */
export function withoutPasswords(text: string): string {
  return text.replace(PASSWORD, '$1***@')
}
