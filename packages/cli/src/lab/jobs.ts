import { availableParallelism } from 'node:os'
import type { JobOptions, TrafficSource } from '@sluice/lab'
import type { LoadedRules } from '../rules.ts'
import { UsageError } from '../usage-error.ts'

const MOST = 64
/** More gain little: one thread reads the bytes for all of them. */
const MOST_BY_DEFAULT = 4
/** Bytes of logs that are read before threads have started. */
const LEAST_BYTES = 64_000_000

/** Of commands that can share their work among threads. */
export const JOBS_OPTION: {
  readonly jobs: { readonly type: 'string'; readonly value: string; readonly help: string }
} = {
  jobs: {
    type: 'string',
    value: 'COUNT',
    help: `threads that share the work, 1 to ${MOST}; default: one for each core, at most ${MOST_BY_DEFAULT}, for files of 64 MB or more`,
  },
}

/** What they say about it. */
export const JOBS_NOTES = `However many threads share the work, the output is the same to the byte. They part the requests by what the
keys of all rules have in common, such as ip; without such a part, they share the reading, and one
decides. With --descriptor or --report one does all. Where a rule refuses more than a million keys, which
of them are counted one by one depends on the threads.`

/** How many threads are to share the work. @throws UsageError */
export function jobsFor(
  text: string | undefined,
  sources: readonly TrafficSource[],
  { compileOptions }: Pick<LoadedRules, 'compileOptions'>,
): JobOptions {
  return { count: text === undefined ? byDefault(sources) : countFrom(text), compile: compileOptions }
}

function countFrom(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST) return count
  throw new UsageError(
    `--jobs must be a whole number from 1 to ${MOST}, not ${JSON.stringify(text.slice(0, 80))}`,
  )
}

function byDefault(sources: readonly TrafficSource[]): number {
  const bytes = sources.reduce((sum, { size = 0 }) => sum + size, 0)
  return bytes < LEAST_BYTES ? 1 : Math.min(availableParallelism(), MOST_BY_DEFAULT)
}
