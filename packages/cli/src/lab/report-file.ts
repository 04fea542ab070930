import { closeSync, openSync } from 'node:fs'
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
  try {
    closeSync(openSync(path, 'a'))
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${(error as Error).message}`)
  }
}
