import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { FakeClock } from '@sluice/limiter/testing'
import { type Addresses, createService } from './service.ts'
import { rulesFolder } from './testing.ts'

/** What came in one second of a log. */
export interface TraceSecond {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly requests: readonly TraceRequest[]
}

interface TraceRequest {
  readonly ip: string
  readonly method: string
  readonly path: string
}

/** The first hours of NASA's log of July 1995, gzip (fixtures/traces/README.md of the package lab). */
export const NASA_LOG: string = new URL('../../lab/fixtures/traces/nasa-1995-07-01.log.gz', import.meta.url)
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

/** A service that listens, with counters in memory by the clock of the log. */
export interface TraceService extends Addresses {
  /** The folder of its rules, which have the domain `nasa`. */
  readonly rules: string
  /** Asks what the log has, of the first minutes alone where they are given. @returns how often each answer came */
  replay(minutes?: number): Promise<{ readonly allowed: number; readonly denied: number }>
  stop(): Promise<void>
}

export async function traceService(rulebook: string): Promise<TraceService> {
  const folder = await rulesFolder({ 'rules.yaml': rulebook })
  const clock = new FakeClock()
  const service = createService({
    rules: [folder.path],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    store: new MemoryStore({ clock }),
    watch: false,
    idleMs: 0,
    log: { level: 'silent' },
  })
  const addresses = await service.start()
  return {
    ...addresses,
    rules: folder.path,
    async replay(minutes = Number.POSITIVE_INFINITY) {
      const answers = { allowed: 0, denied: 0 }
      const seconds = nasaTrace()
      for (const { at, requests } of seconds) {
        if (at > seconds[0]!.at + minutes * 60_000) break
        clock.set(at * 1_000)
        const answer = await fetch(`${addresses.http}/v1/check/batch`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(requests.map((request) => ({ domain: 'nasa', request }))),
        })
        for (const { allowed } of (await answer.json()) as { allowed: boolean }[])
          answers[allowed ? 'allowed' : 'denied']++
      }
      return answers
    },
    async stop() {
      await service.stop()
      await folder.remove()
    },
  }
}
