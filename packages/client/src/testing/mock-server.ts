import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Decision } from '@sluice/limiter'
import { checkOptions } from '@sluice/limiter/options'
import { type Header, reportOf, respondTo } from '@sluice/limiter/respond'
import { startTimer } from '@sluice/limiter/time'
import { maxWaitCheck } from '../retry/retry-options.ts'
import { CallCount, type MockArrival, type MockCount } from './mock-count.ts'
import { type MockDialect, writerOf } from './mock-dialects.ts'
import { faultsCheck, lyingDecision, type MockFaults, nonsense } from './mock-faults.ts'
import {
  checkMockOptions,
  limiterIn,
  type MockCall,
  type MockLimiter,
  type MockOptions,
} from './mock-options.ts'

/** A limited API that runs in this process, on 127.0.0.1. */
export interface MockServer {
  readonly url: string
  readonly count: MockCount
  /** The last million calls, in order. */
  readonly arrivals: readonly MockArrival[]
  /** What goes wrong from now on. @throws ConfigError */
  setFaults(faults: MockFaults): void
  /** Refuses all calls for so many milliseconds, and gives all callers the same time: a herd, when it is over. @throws ConfigError */
  refuseAll(ms: number): void
  /** Counts from 0 again; limits stay as they are used. */
  reset(): void
  close(): Promise<void>
}

/** An answer that is about to be sent. */
interface MockAnswer {
  readonly status: number
  readonly headers: readonly Header[]
  readonly body: string
}

const HTML =
  '<!doctype html><html><head><title>429</title></head><body><h1>Too many requests</h1></body></html>\n'

/**
 * Starts a limited API: every path answers, within the limits, in the headers of any dialect, with faults as they are
 * asked for. It counts what it admitted by a log of its own: `GET /__count` has that as JSON, `POST /__reset` begins
 * anew, `POST /__refuse?ms=2000` refuses all for a time.
 * @throws ConfigError for options that are wrong (rejects)
 * @example
 * const mock = await startMock({ dialect: 'github', faults: { html: 0.5 } })
 * const response = await fetch(mock.url)
 * console.log(response.status, mock.count.admitted)
 * await mock.close()
 */
export async function startMock(options: MockOptions = {}): Promise<MockServer> {
  checkMockOptions(options)
  const api = new MockApi(options)
  const server = createServer((request, response) => {
    api.answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(`${(error as Error).message}\n`)
    })
  })
  await listening(server, options.port ?? 0)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return api.count.report()
    },
    get arrivals() {
      return api.count.arrivals
    },
    setFaults: (faults) => {
      checkOptions(faults, faultsCheck)
      api.faults = faults
    },
    refuseAll(ms) {
      checkOptions(ms, maxWaitCheck, 'ms')
      api.refuseAll(ms)
    },
    reset: () => api.count.reset(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}

class MockApi {
  readonly count = new CallCount()
  faults: MockFaults
  readonly #limiter: MockLimiter
  readonly #writers: readonly ReturnType<typeof writerOf>[]
  readonly #status: number
  readonly #retryAfter: 'seconds' | 'date' | 'none'
  readonly #random: () => number
  readonly #startedMs = performance.now()
  #refusedUntilMs = 0

  constructor(options: MockOptions) {
    const {
      dialect = 'ietf',
      faults = {},
      status = 429,
      retryAfter = 'seconds',
      random = Math.random,
    } = options
    this.faults = faults
    this.#limiter = limiterIn(options)
    this.#writers = [dialect].flat().map((name) => writerOf(name as MockDialect))
    this.#status = status
    this.#retryAfter = retryAfter
    this.#random = random
  }

  refuseAll(ms: number): void {
    this.#refusedUntilMs = this.#nowMs() + ms
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/', query = ''] = (request.url ?? '/').split('?')
    request.resume()
    response.on('error', () => undefined)
    if (path.startsWith('/__')) return this.#control(request.method, path, query, response)
    const call = callOf(request, path)
    const caller = call.headers['x-caller'] ?? call.key
    const atMs = this.#nowMs()
    const left = this.#refusedUntilMs - atMs
    const decision = left > 0 ? refusedFor(left) : await this.#limiter.decide(call)
    this.count.arrive(call.key, caller, decision, atMs)
    if (decision.allowed) response.on('close', () => void this.#limiter.release?.(decision))
    this.#send(response, this.#answerOf(decision, caller, atMs))
  }

  #control(method: string | undefined, path: string, query: string, response: ServerResponse): void {
    const name = `${method} ${path}`
    if (name === 'POST /__reset') this.count.reset()
    else if (name === 'POST /__refuse') this.refuseAll(Number(new URLSearchParams(query).get('ms')) || 0)
    else if (name !== 'GET /__count') {
      response.writeHead(404).end()
      return
    }
    response.setHeader('Content-Type', 'application/json')
    response.end(`${JSON.stringify(this.count.report())}\n`)
  }

  #answerOf(decision: Decision, caller: string, atMs: number): MockAnswer {
    const { faults } = this
    const { bare = 0, html = 0, skewMs = 0, lie } = faults
    const nowMs = Date.now() + skewMs
    const date: Header[] = faults.noDate ? [] : [['Date', new Date(nowMs).toUTCString()]]
    if (!decision.allowed && this.#happens('bare', bare))
      return { status: this.#status, headers: date, body: '' }
    const stated = lie === undefined ? decision : lyingDecision(decision, lie)
    const limits = this.#headersOf(stated, nowMs, caller, atMs)
    const said = lie === 'nonsense' ? limits.map(([name]): Header => [name, nonsense(this.#random)]) : limits
    const headers = [...date, ...said]
    if (decision.allowed) return { status: 200, headers: [...headers, JSON_TYPE], body: '{"ok":true}\n' }
    if (this.#happens('html', html))
      return { status: this.#status, headers: [...headers, HTML_TYPE], body: HTML }
    return { status: this.#status, headers: [...headers, JSON_TYPE], body: '{"error":"over the limit"}\n' }
  }

  /** The dialects' headers, and Retry-After of a refusal; notes the time that the caller is given by it. */
  #headersOf(decision: Decision, nowMs: number, caller: string, atMs: number): readonly Header[] {
    const { allowed, retryAfterMs } = decision
    const retrySeconds =
      allowed || retryAfterMs === null ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000))
    const report = reportOf(decision, { nowMs, ...(retrySeconds !== undefined && { retrySeconds }) })
    const headers = this.#writers.flatMap((write) => write(report))
    if (this.#retryAfter === 'none' || retrySeconds === undefined) return headers
    this.count.giveTime(caller, atMs + retrySeconds * 1_000)
    const { headers: own } = respondTo(decision, { dialect: [], nowMs, retryAfter: this.#retryAfter })
    return [...headers, ...own.filter(([name]) => name === 'Retry-After')]
  }

  #send(response: ServerResponse, { status, headers, body }: MockAnswer): void {
    const { lost = 0, cut = 0, slow = 0, slowMs = 1_000 } = this.faults
    if (this.#happens('lost', lost)) {
      response.destroy()
      return
    }
    response.sendDate = false
    response.writeHead(status, [...headers.flat(), 'Content-Length', `${Buffer.byteLength(body)}`])
    const half = body.length >> 1
    if (this.#happens('cut', cut)) response.write(body.slice(0, half), () => response.destroy())
    else if (this.#happens('slow', slow)) {
      response.write(body.slice(0, half))
      const stop = startTimer(() => response.end(body.slice(half)), slowMs)
      response.on('close', stop)
    } else response.end(body)
  }

  #happens(name: string, share: number): boolean {
    const happens = share > 0 && this.#random() < share
    if (happens) this.count.fault(name)
    return happens
  }

  #nowMs(): number {
    return performance.now() - this.#startedMs
  }
}

const JSON_TYPE: Header = ['Content-Type', 'application/json']
const HTML_TYPE: Header = ['Content-Type', 'text/html; charset=utf-8']

function callOf(request: IncomingMessage, path: string): MockCall {
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(', ') : value
  const key = headers.authorization ?? headers['x-api-key'] ?? 'all'
  return { method: request.method ?? 'GET', path, headers, key }
}

/** A refusal that no policy made: that of all calls, for a time. */
function refusedFor(ms: number): Decision {
  const figures = {
    allowed: false,
    policy: 'requests',
    limit: 0,
    remaining: 0,
    retryAfterMs: ms,
    moreAfterMs: ms,
    resetAfterMs: ms,
    delayMs: 0,
  }
  return { ...figures, degraded: false, policies: [{ ...figures, windowSeconds: 1 }] }
}
