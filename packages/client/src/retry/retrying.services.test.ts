import { spawn } from 'node:child_process'
import { createLimiter } from '@sluice/limiter'
import type { Event } from '@sluice/limiter/events'
import { afterEach, describe, expect, it } from 'vitest'
import { type MockServer, startMock } from '../testing/mock-server.ts'
import { seededRandom } from './fake-time.test-support.ts'
import { retrying } from './retrying.ts'
import { Throttled } from './throttled.ts'

let mock: MockServer
afterEach(() => mock.close())

/** More than any test needs. */
const ROOM = { requests: { algorithm: 'fixed-window', limit: 1_000_000, period: '1m' } } as const

describe('Acceptance 4.3 to 4.5: fifty clients who are refused at once', () => {
  it('come back apart, none early, and all are served', async () => {
    const [clients, calls] = [50, 20]
    const waits: number[] = []
    const observe = (event: Event): void => void (event.type === 'call-retried' && waits.push(event.waitMs))
    mock = await startMock({ policies: ROOM })
    mock.refuseAll(10_000)
    const done = await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        const fetch = retrying(globalThis.fetch, { random: seededRandom(client), observe })
        let served = 0
        for (let call = 0; call < calls; call++) {
          const response = await fetch(mock.url, { headers: { 'x-caller': `client ${client}` } })
          await response.arrayBuffer()
          if (response.status === 200) served++
        }
        return served
      }),
    )
    expect(done).toEqual(Array(clients).fill(calls))
    expect(mock.count.early).toBe(0)
    expect(mock.count.received).toBeLessThanOrEqual(1.1 * clients * calls)
    // What they wait beyond the whole seconds that they were told: when they arrive, the machine says as well.
    expect(fullest(waits.map((waitMs) => waitMs % 1_000))).toBeLessThanOrEqual((3 * clients) / 10)
  })
})

/** The most that fall into one tenth of a second. */
function fullest(times: readonly number[]): number {
  const bins = Array<number>(10).fill(0)
  for (const ms of times) bins[Math.floor(ms / 100)]!++
  return Math.max(...bins)
}

describe('Acceptance 4.7: a backend that accepts little', () => {
  // How little it gets is in retrying.test.ts, whose time no machine delays.
  it('is spared, and gets all again once it has recovered', async () => {
    const accepts = (limit: number) =>
      createLimiter({ policies: { p: { algorithm: 'token-bucket', limit, period: '1s' } } })
    let limiter = accepts(1)
    mock = await startMock({
      limiter: { decide: () => limiter.check('all') },
      status: 503,
      retryAfter: 'none',
    })
    const fetch = retrying(globalThis.fetch, { tries: 1, random: seededRandom(1) })
    const outcomesOf = async (count: number): Promise<ReadonlySet<number | string>> => {
      const calls = Array.from({ length: count }, () =>
        fetch(mock.url).then(
          async (response) => {
            await response.arrayBuffer()
            return response.status
          },
          (error) => (error instanceof Throttled ? error.reason : String(error)),
        ),
      )
      return new Set(await Promise.all(calls))
    }
    await expect.poll(() => outcomesOf(20)).toContain('overload')
    limiter = accepts(1_000_000)
    await expect.poll(() => outcomesOf(100)).toEqual(new Set([200]))
  })
})

describe('Acceptance 4.9: timers', () => {
  const program = (options: string): string => `
    import { retrying } from '@sluice/client'
    const fetch = retrying(globalThis.fetch, ${options})
    const leaving = new AbortController()
    fetch(process.argv[1], { signal: leaving.signal }).catch(({ message }) => console.log(message))
    if (process.argv[2] === 'leave') setTimeout(() => leaving.abort(new Error('left')), 500)
  `
  const run = async (options: string, ...more: string[]): Promise<{ code: number | null; out: string }> => {
    const argv = ['--input-type=module', '-e', program(options), mock.url, ...more]
    const child = spawn(process.execPath, argv, { cwd: new URL('.', import.meta.url) })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      out += chunk
    })
    const late = setTimeout(() => child.kill('SIGKILL'), 25_000)
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    clearTimeout(late)
    return { code, out }
  }

  it('do not hold the process open, where that is asked for', async () => {
    mock = await startMock()
    mock.refuseAll(50_000)
    expect(await run('{ unref: true }')).toEqual({ code: 0, out: '' })
    expect(mock.count.received).toBe(1)
  })

  it('do not hold it open once a call has been left', async () => {
    mock = await startMock()
    mock.refuseAll(50_000)
    expect(await run('{}', 'leave')).toEqual({ code: 0, out: 'left\n' })
  })
})

describe('answers with faults', () => {
  it.each([{ bare: 1 }, { html: 1 }, { lie: 'nonsense' }, { lie: 'plenty', skewMs: -3_600_000 }] as const)(
    '%j: a call is served in the end',
    async (faults) => {
      mock = await startMock({
        policies: ROOM,
        faults,
        dialect: ['x-ratelimit-epoch', 'ietf'],
        random: () => 0.5,
      })
      mock.refuseAll(2_000)
      const fetch = retrying(globalThis.fetch, { tries: 20, budget: false })
      const responses = await Promise.all(Array.from({ length: 5 }, () => fetch(mock.url)))
      expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200))
      expect(mock.count.refused).toBeGreaterThan(0)
    },
  )

  it('with lost connections: reads are repeated, and bodies that are cut off are not', async () => {
    mock = await startMock({ policies: ROOM, faults: { lost: 0.5 }, random: seededRandom(1) })
    const fetch = retrying(globalThis.fetch, { tries: 10, baseMs: 1, budget: false })
    for (let call = 0; call < 10; call++) expect((await fetch(mock.url)).status).toBe(200)
    mock.setFaults({ cut: 1 })
    mock.reset()
    await expect((await fetch(mock.url)).text()).rejects.toThrow(TypeError)
    expect(mock.count.received).toBe(1)
  })

  it('are not waited for: a refusal that does not end holds nobody up', async () => {
    mock = await startMock({ policies: ROOM, faults: { slow: 1, slowMs: 30_000 } })
    mock.refuseAll(900)
    const answer = retrying(globalThis.fetch)(mock.url)
    setTimeout(() => mock.setFaults({}), 500)
    expect((await answer).status).toBe(200)
  })
})
