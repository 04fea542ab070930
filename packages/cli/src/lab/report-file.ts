import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { UsageError } from '../usage-error.ts'

/** What every command that writes a page has an option for. */
export const REPORT_OPTION: {
  readonly report: { readonly type: 'string'; readonly value: string; readonly help: string }
} = {
  report: {
    type: 'string',
    value: 'FILE',
    help: 'also writes a page with curves, one file that opens offline',
  },
}

/** Whether the page can be written is seen before the log is read, which may take long. @throws UsageError */
export function checkWritable(path: string): void {
  const isNew = !existsSync(path)
  try {
    closeSync(openSync(path, 'a'))
    if (isNew) rmSync(path) // where the log cannot be read, no empty page is left
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new UsageError(
      `cannot write ${path || 'a file without a name'}: ${Object.hasOwn(REASONS, code) ? REASONS[code] : message}`,
    )
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be written',
}
