import { type Agent, createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FrameworkArgs, GateOptions, RateLimitInfo } from '@sluice/limiter/gate'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { FakeClock } from '@sluice/limiter/testing'
import type { Runner } from '../runner.ts'
import { ManualTimers } from './manual-timers.ts'

export type TestOptions = GateOptions<FrameworkArgs, FrameworkArgs>

/** What the application behind the limiters makes of a request that they let in. */
export type Application = (request: {
  readonly path: string
  readonly info: RateLimitInfo | undefined
}) => Served | Promise<Served>

interface Served {
  readonly status?: number
  readonly body?: string
}

export interface Listening {
  readonly port: number
  close(): Promise<unknown>
}

/** An adapter as the suite sees it. */
export interface AdapterUnderTest {
  /**
   * Starts a server on a free port of 127.0.0.1, whose requests meet a limiter for each of `options`, in order, and
   * then the application. Failures are answered with 500.
   */
  listen(options: readonly TestOptions[], application: Application): Promise<Listening>
  /** A header, out of what this adapter hands to functions in its options. */
  header(native: FrameworkArgs, name: string): string | undefined
  /** The figures, where an application finds them, out of the same. */
  info(native: FrameworkArgs): RateLimitInfo | undefined
  /** Options of this adapter alone, by which the application answers a refusal with 429, after a call of `look`. */
  refusing?(look: (native: FrameworkArgs) => void): object
  /** Names of tests that it cannot pass, and why. */
  readonly except?: Readonly<Record<string, string>>
}

export interface TestReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly agent?: Agent
  readonly signal?: AbortSignal
}

/** A running server, and what its limiters keep time and count by. */
export interface AdapterBench {
  readonly clock: FakeClock
  readonly timers: ManualTimers
  readonly port: number
  /** What the limiters warned of, and complained of. */
  readonly log: readonly string[]
  get(path?: string, ask?: Ask): Promise<TestReply>
  /** Statuses of so many requests, one after another. */
  statuses(count: number, path?: string, ask?: Ask): Promise<number[]>
}

/** What options are made of: functions in them read headers by `header`. */
export interface Making {
  readonly clock: FakeClock
  header(native: FrameworkArgs, name: string): string | undefined
}

/** Declares tests, each with a server of its own. */
export function benches(
  { it }: Runner,
  adapter: AdapterUnderTest,
): (
  name: string,
  options: TestOptions | ((making: Making) => TestOptions | readonly TestOptions[]),
  body: (bench: AdapterBench) => Promise<void>,
  application?: Application,
) => void {
  return (name, options, body, application = showing) => {
    if (Object.hasOwn(adapter.except ?? {}, name)) return
    it(name, async () => {
      const clock = new FakeClock()
      const timers = new ManualTimers()
      const log: string[] = []
      const given = typeof options === 'function' ? options({ clock, header: adapter.header }) : options
      const list: readonly TestOptions[] = Array.isArray(given) ? given : [given]
      const store = new MemoryStore({ clock })
      const server = await adapter.listen(
        list.map((each, i) => ({
          ...(each.limiter === undefined ? { name: `limiter ${i}`, store } : undefined),
          wallClock: () => clock.now() / 1_000,
          timers,
          logger: { warn: (message) => log.push(message), error: (message) => log.push(message) },
          ...each,
        })),
        application,
      )
      try {
        await body(adapterBenchOf(server.port, clock, timers, log))
      } finally {
        await server.close()
      }
    })
  }
}

/** Answers with the figures that the application is shown. */
const showing: Application = ({ info }) => {
  const { limit, used, remaining, key, policy } = info ?? {}
  return {
    body: JSON.stringify({ limit, used, remaining, key, policy, resetTime: info?.resetTime?.toISOString() }),
  }
}

function adapterBenchOf(
  port: number,
  clock: FakeClock,
  timers: ManualTimers,
  log: readonly string[],
): AdapterBench {
  const get = (path = '/', ask: Ask = {}): Promise<TestReply> => send(port, path, ask)
  return {
    clock,
    timers,
    port,
    log,
    get,
    async statuses(count, path, ask) {
      const statuses: number[] = []
      for (let i = 0; i < count; i++) statuses.push((await get(path, ask)).status)
      return statuses
    },
  }
}

/** One request, on a connection of its own unless an agent keeps one. */
function send(port: number, path: string, { agent, ...ask }: Ask): Promise<TestReply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: agent ?? false, ...ask }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

/**
 * A server of `node:http` on a free port of 127.0.0.1, which closes whatever is still open.
 * @example
 * const { port, close } = await served((request, response) => response.end('hello'))
 * await fetch(`http://127.0.0.1:${port}/`)
 * await close()
 */
export function served(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () => {
          server.closeAllConnections()
          return new Promise((closed) => server.close(closed))
        },
      }),
    )
  })
}
