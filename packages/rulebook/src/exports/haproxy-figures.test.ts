import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createLimiter, MemoryStore, type Policy } from '@sluice/limiter'
import { FakeClock } from '@sluice/limiter/testing'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')

interface Entry {
  readonly client: string
  /** Milliseconds since the first. */
  readonly at: number
}

/** Some hours of a public web server, sorted by time; its clock has whole seconds. */
function logOf(name: string): Entry[] {
  const lines = gunzipSync(readFileSync(join(ROOT, 'packages/lab/fixtures/traces', name)))
    .toString('latin1')
    .split('\n')
  const entries = lines.flatMap((line) => {
    const [, client, date, time] = /^(\S+) .*?\[(\d+\/\w+\/\d+):(\d+:\d+:\d+)/.exec(line) ?? []
    return client === undefined
      ? []
      : [{ client, at: Date.parse(`${date!.replaceAll('/', ' ')} ${time} UTC`) }]
  })
  entries.sort((a, b) => a.at - b.at)
  const first = entries[0]!.at
  return entries.map(({ client, at }) => ({ client, at: at - first }))
}

/** http_req_rate of one key, as HAProxy counts it; a request that is refused is not counted. */
class HaproxyCounter {
  #tick = 0
  #now = 0
  #before = 0

  admits(at: number, most: number, period: number): boolean {
    if (at - this.#tick >= 2 * period) [this.#tick, this.#before, this.#now] = [at, 0, 0]
    else if (at - this.#tick >= period)
      [this.#tick, this.#before, this.#now] = [this.#tick + period, this.#now, 0]
    const fading = this.#before <= 1 && this.#now === 0 ? 0 : this.#before
    const rate = Math.floor((fading * (this.#tick + period - at)) / period) + this.#now
    if (rate < most) this.#now += 1
    return rate < most
  }
}

/** What of a log ours and HAProxy decide: shares of all requests, in percent. */
function compared(log: readonly Entry[], policy: Policy, most: number, period: number): string {
  const clock = new FakeClock(0)
  const limiter = createLimiter({ store: new MemoryStore({ clock }), policies: { one: policy } })
  const counters = new Map<string, HaproxyCounter>()
  let [ours, theirs, other] = [0, 0, 0]
  for (const { client, at } of log) {
    clock.set(at * 1_000)
    const counter = counters.get(client) ?? new HaproxyCounter()
    counters.set(client, counter)
    const [a, b] = [limiter.check(client).allowed, counter.admits(at, most, period)]
    if (!a) ours += 1
    if (!b) theirs += 1
    if (a !== b) other += 1
  }
  return [ours, theirs, other].map((count) => `${((count / log.length) * 100).toFixed(2)} %`).join(' | ')
}

const RULES: readonly (readonly [rule: string, policy: Policy, most: number, period: number])[] = [
  [
    '`sliding-window-counter`, 10/minute',
    { algorithm: 'sliding-window-counter', limit: 10, period: 60_000 },
    10,
    60_000,
  ],
  ['`fixed-window`, 10/minute', { algorithm: 'fixed-window', limit: 10, period: 60_000 }, 10, 60_000],
  ['`token-bucket`, 10/minute', { algorithm: 'token-bucket', limit: 10, period: 60_000 }, 10, 60_000],
  [
    '`token-bucket`, 10/minute, burst 20',
    { algorithm: 'token-bucket', limit: 10, period: 60_000, burst: 20 },
    20,
    120_000,
  ],
  ['`token-bucket`, 5/minute', { algorithm: 'token-bucket', limit: 5, period: 60_000 }, 5, 60_000],
]

test.each(RULES)(
  'acceptance 2.6: the page has the figures of a replayed log for %s',
  (rule, policy, most, period) => {
    const page = readFileSync(join(ROOT, 'docs/export.md'), 'utf8').replace(/ +/g, ' ')
    const log = logOf('nasa-1995-08-01.log.gz')
    expect(page).toContain(`| ${rule} | ${compared(log, policy, most, period)} |`)
  },
)
