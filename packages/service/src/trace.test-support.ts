import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** What came in one second of a log. */
export interface TraceSecond {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly requests: readonly TraceRequest[]
}

export interface TraceRequest {
  readonly ip: string
  readonly method: string
  readonly path: string
}

/** The first hours of NASA's log of July 1995, gzip (fixtures/traces/README.md of the command line). */
export const NASA_LOG: string = new URL('../../cli/fixtures/traces/nasa-1995-07-01.log.gz', import.meta.url)
  .pathname
const LINE = /^(\S+) \S+ \S+ \[(\d+)\/Jul\/1995:([\d:]+) -0400\] "(\S+) ([^ ?]*)[^"]*"/

/** What it has, in order of time; seconds without requests are left out. */
export function nasaTrace(): readonly TraceSecond[] {
  const seconds: { at: number; requests: TraceRequest[] }[] = []
  for (const line of gunzipSync(readFileSync(NASA_LOG)).toString('latin1').trimEnd().split('\n')) {
    const [, ip, day, time, method, path] = LINE.exec(line)!
    const at = Date.parse(`1995-07-${day}T${time!.replace(/^:/, '')}-04:00`)
    if (seconds.at(-1)?.at !== at) seconds.push({ at, requests: [] })
    seconds.at(-1)!.requests.push({ ip: ip!, method: method!, path: path! })
  }
  return seconds
}
