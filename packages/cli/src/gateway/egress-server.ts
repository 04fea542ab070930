import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline as piped } from 'node:stream/promises'
import { type Outbound, Throttled } from '@sluice/client'
import { outboundInterceptor } from '@sluice/client/undici'
import { Agent, type Dispatcher } from 'undici'

export interface EgressParts {
  /** Where calls go: their paths come behind its own. */
  readonly upstream: URL
  readonly limits: Outbound
}

/** A server that passes calls on to one API when its limits have room for them. */
export interface EgressServer {
  readonly server: Server
  /** Takes no new calls, and waits for those that are under way. */
  close(): Promise<void>
}

/** Bytes of a JSON body that is read whole, so that what the call will use can be estimated from it. */
const WHOLE_BODY = 1_048_576
/** Connections at once; others wait until one is free. */
const MOST_CONNECTIONS = 10_000
/** RFC 9110, 7.6.1: what is between two neighbours only. `Host` and `Expect` are made anew. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
])

/**
 * Calls wait for their turn and are then sent as they came; answers go back as they are. A call that is not sent is
 * answered by 429 with Retry-After, before a connection is opened.
 */
export function egressServer({ upstream, limits }: EgressParts): EgressServer {
  const agent = new Agent()
  const dispatcher = agent.compose(outboundInterceptor(limits))
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    void pass(dispatcher, upstream, request, response)
  })
  server.maxConnections = MOST_CONNECTIONS
  return {
    server,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await limits.drain()
      await closed
      await agent.close()
    },
  }
}

/**
 * Who shares limits and pauses: those who call with one API key. A hash, for keys are secrets.
 * @param header gives a header's value
 */
export function callerHash(header: (name: string) => string | undefined): string {
  const secret = header('authorization') ?? header('x-api-key') ?? ''
  return secret === '' ? 'none' : createHash('sha256').update(secret).digest('base64url').slice(0, 22)
}

async function pass(
  dispatcher: Dispatcher,
  upstream: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  try {
    const target = targetOf(upstream, request.url ?? '')
    if (target === undefined) return refuse(response, 400, 'the path must begin with /')
    const answer = await dispatcher.request({
      origin: target.origin,
      path: `${target.pathname}${target.search}`,
      method: request.method as Dispatcher.HttpMethod,
      headers: endToEnd(request.headers),
      body: await bodyOf(request),
      signal: leaving.signal,
    })
    response.writeHead(answer.statusCode, endToEnd(answer.headers))
    await piped(answer.body, response)
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy()
    else answerError(response, error)
  }
}

/** Dots are resolved before the upstream's own path is put before it, so that no call leaves that path. */
function targetOf(upstream: URL, url: string): URL | undefined {
  if (!url.startsWith('/')) return undefined
  const { pathname, search } = new URL(`http://gateway${url}`)
  const target = new URL(upstream)
  target.pathname = `${upstream.pathname.replace(/\/$/, '')}${pathname}`
  target.search = search
  return target
}

function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const named = String(headers.connection ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !HOP_BY_HOP.has(name) && !named.includes(name),
  )
  return Object.fromEntries(kept) as Record<string, string | string[]>
}

/** JSON that is short is read whole; all else is sent on as it comes. */
async function bodyOf(request: IncomingMessage): Promise<string | IncomingMessage | null> {
  const length = request.headers['content-length']
  if (length === undefined && request.headers['transfer-encoding'] === undefined) return null
  if (!/[/+]json\b/.test(request.headers['content-type'] ?? '')) return request
  if (length === undefined || Number(length) > WHOLE_BODY) return request
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

function answerError(response: ServerResponse, error: unknown): void {
  if (error instanceof Throttled) {
    const { retryAfterMs, message, reason } = error
    if (retryAfterMs !== undefined) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1_000))
    refuse(response, reason === 'draining' ? 503 : 429, message)
  } else {
    const { code = 'unknown' } = error as { readonly code?: string }
    refuse(response, 502, `the upstream did not answer: ${code}`)
  }
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ status, detail }))
}
