import { createEngine } from '@sluice/limiter/decide'
import { ConfigError, StoreError } from '@sluice/limiter/errors'
import type { Offenders } from '@sluice/limiter/offenders'
import type { EventSource, EventStreams } from '../admin/event-streams.ts'
import { foreignPage } from '../admin/foreign-pages.ts'
import { type KeyCalls, keyCalls } from '../admin/key-calls.ts'
import { keyVerbs } from '../admin/key-verbs.ts'
import { liveCall } from '../admin/live-call.ts'
import { offendersCall } from '../admin/offenders-call.ts'
import { HttpError, PROBLEM_TYPE, problem } from '../admin/problem.ts'
import { spikesCall } from '../admin/spikes-call.ts'
import type { Instruments } from '../instruments.ts'
import type { LiveFigures } from '../live/live-figures.ts'
import { appRulesBody } from './app-rules.ts'
import { dashboardFiles, OWN_PAGES_ONLY } from './dashboard-files.ts'
import type { DashboardAnswer, DashboardRequest } from './dashboard-request.ts'

/** Characters of a name or a key. */
const MOST_TEXT = 4_096

export interface DashboardParts {
  readonly instruments: Instruments
  readonly figures: LiveFigures
  readonly offenders: Offenders
  readonly streams: EventStreams
  /** A key as it is shown. */
  readonly show: (key: string) => string
  /** Whether a header `authorization` brings the token; absent: there is none, and nothing can be changed. */
  readonly brings: ((authorization: string | undefined) => boolean) | undefined
  /** Whether a host, without its port, is one under which the dashboard may be asked. */
  readonly names: (host: string) => boolean
  /** Since when it counts, in milliseconds since the epoch. */
  readonly since: number
}

/** A call: its answer as JSON, or a stream. */
type DashboardCall = (request: DashboardRequest) => Promise<object | EventSource> | object | EventSource

/**
 * The dashboard of an app, without a server: requests in, answers out; `undefined` where a stream was opened. It never
 * rejects.
 */
export function dashboardCalls(
  parts: DashboardParts,
): (request: DashboardRequest) => Promise<DashboardAnswer | undefined> {
  const files = new Map(dashboardFiles().map((file) => [file.path, file]))
  const calls = callsOf(parts)
  const answer = async (request: DashboardRequest): Promise<DashboardAnswer | undefined> => {
    const { path, method } = request
    const file = method === 'GET' || method === 'HEAD' ? files.get(path) : undefined
    const call = calls.get(`${method} ${path}`)
    if (file === undefined && call === undefined) return missing(path, [...calls.keys()])
    const fault = foreignPage(originOf(request), parts.names, 'the option hosts')
    if (fault !== undefined) throw fault
    if (file !== undefined) return { status: 200, headers: file.headers, body: file.content() }
    if (parts.brings?.(request.header('authorization')) === false) {
      const detail = 'the dashboard asks for its token: authorization: Bearer TOKEN'
      return problemAnswer(401, detail, { 'www-authenticate': 'Bearer' })
    }
    const given = await call!(request)
    if (!isSource(given)) return json(200, given)
    parts.streams.add(() => request.open(OWN_PAGES_ONLY), given)
    return undefined
  }
  return async (request) => {
    const given = await answer(request).catch(refusal)
    return given && { ...given, headers: { ...given.headers, ...OWN_PAGES_ONLY } }
  }
}

function callsOf(parts: DashboardParts): ReadonlyMap<string, DashboardCall> {
  const { instruments, figures, offenders, since, show } = parts
  const live = liveCall(figures)
  return new Map<string, DashboardCall>([
    ['GET /v1/live', live],
    ['GET /v1/spikes', (request) => spikesCall(figures.policySeconds, parametersOf(request))],
    ['GET /v1/rules', () => appRulesBody(instruments.policies, since)],
    [
      'GET /v1/offenders',
      (request) => {
        const { body, stream } = offendersCall(offenders, show, parametersOf(request))
        return /\btext\/event-stream\b/.test(request.header('accept') ?? '') ? stream() : body()
      },
    ],
    ['GET /v1/key', (request) => keysOf(parts).look(parametersOf(request))],
    ['POST /v1/block', async (request) => keysOf(parts).block(await request.json())],
    ['POST /v1/unblock', async (request) => keysOf(parts).unblock(await request.json())],
    ['POST /v1/reset', async (request) => keysOf(parts).reset(await request.json())],
  ])
}

/** @throws HttpError where nothing can be looked up or changed */
function keysOf({ instruments: { stores, policies }, brings }: DashboardParts): KeyCalls {
  if (brings === undefined)
    throw new HttpError(403, 'keys are looked up and changed by a dashboard that has a token')
  if (stores.store === undefined)
    throw new HttpError(
      404,
      'the store is not known: give createInstruments the store that the limiters have',
    )
  const verbs = keyVerbs(createEngine(stores.store), ({ domain, policy }) => {
    const rules = policies.find(domain, policy)?.rules ?? []
    if (rules.length > 0) return rules
    throw new HttpError(404, `no policy ${JSON.stringify(policy.slice(0, 100))} has decided a request here`)
  })
  return keyCalls(verbs, MOST_TEXT)
}

function originOf({ method, header }: DashboardRequest): Parameters<typeof foreignPage>[0] {
  return { method, host: header('host'), origin: header('origin'), contentType: header('content-type') }
}

function parametersOf({ query }: DashboardRequest): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...query.keys()].map((name) => [name, oneOrAll(query.getAll(name))]))
}

function oneOrAll(values: readonly string[]): unknown {
  return values.length === 1 ? values[0] : values
}

function isSource(given: object): given is EventSource {
  return 'ticked' in given
}

function missing(path: string, calls: readonly string[]): DashboardAnswer {
  const allow = calls.find((call) => call.endsWith(` ${path}`))?.split(' ')[0]
  return allow === undefined
    ? problemAnswer(404, `there is nothing at ${path.slice(0, 100)}`)
    : problemAnswer(405, `${path} takes ${allow}`, { allow })
}

function refusal(error: unknown): DashboardAnswer {
  if (error instanceof HttpError) return problemAnswer(error.statusCode, error.message)
  if (error instanceof ConfigError) return problemAnswer(400, error.message)
  if (error instanceof StoreError) return problemAnswer(503, 'the store does not answer')
  return problemAnswer(500, 'the dashboard failed')
}

function problemAnswer(
  status: number,
  detail: string,
  more: Readonly<Record<string, string>> = {},
): DashboardAnswer {
  return json(status, problem(status, detail), { 'content-type': PROBLEM_TYPE, ...more })
}

function json(status: number, body: object, more: Readonly<Record<string, string>> = {}): DashboardAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...more }
  return { status, headers, body: JSON.stringify(body) }
}
