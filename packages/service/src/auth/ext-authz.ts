import { BadQuestion, type Question, type Reply } from '@sluice/limiter/pipeline'
import type { Header } from '@sluice/limiter/respond'
import { OperationError } from '../operations/operation-error.ts'
import type { Operations } from '../operations/operations.ts'
import { PROBLEM_TYPE, problem } from '../problem.ts'
import type { AuthOptions } from './auth-options.ts'
import type { CheckRequest, CheckResponse, HeaderValueOption, MapEntries } from './ext-authz-messages.ts'
import { type OriginalRequest, requestAt } from './original-request.ts'

/**
 * `envoy.service.auth.v3.Authorization/Check`, over whatever transport.
 * @param withinMs milliseconds that the caller waits, above 0
 * @throws OperationError for a request without HTTP or without a domain; UnknownDomain
 */
export type AuthorizationCheck = (request: CheckRequest, withinMs: number) => Promise<CheckResponse>

export interface ExtAuthzParts {
  readonly operations: Pick<Operations, 'checkWithin'>
  readonly options: Pick<AuthOptions, 'domain'>
  /** Names of the domains in force. */
  readonly domains: () => readonly string[]
}

/** Codes of gRPC. */
const OK = 0
const INVALID_ARGUMENT = 3
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8

/** A header takes the place of one that is there: `OVERWRITE_IF_EXISTS_OR_ADD`. */
const OVERWRITE = 2

const DOMAIN = 'domain'
/** What a client sends under this name must not reach the app. */
const PRIORITY = 'Sluice-Priority'

/**
 * Translates in, asks, translates out. The client's address is what Envoy takes for it (`use_remote_address`,
 * `xff_num_trusted_hops`). `context_extensions` are set in Envoy's configuration, never by a client: `domain` names the
 * rules, the others are attributes.
 */
export function authorizationCheck({ operations, options, domains }: ExtAuthzParts): AuthorizationCheck {
  return async (message, withinMs) => {
    const { domain, ...attributes } = fromMap(message.attributes?.context_extensions)
    const question: Question = {
      domain: domain ?? options.domain ?? onlyOne(domains()),
      request: { ...requestOf(message), attributes },
    }
    try {
      return responseOf(await operations.checkWithin(question, withinMs))
    } catch (error) {
      if (!(error instanceof BadQuestion)) throw error
      const body = JSON.stringify(problem(400, error.message))
      return denied(INVALID_ARGUMENT, 400, [['Content-Type', PROBLEM_TYPE]], body)
    }
  }
}

function onlyOne(domains: readonly string[]): string {
  if (domains.length === 1) return domains[0]!
  throw new OperationError(
    'invalid',
    `the rules have several domains: name one in context_extensions, as ${DOMAIN}`,
  )
}

function requestOf({ attributes }: CheckRequest): OriginalRequest {
  const http = attributes?.request?.http
  if (http === undefined) throw new OperationError('invalid', 'the request has no attributes.request.http')
  const { method = 'GET', path = '/', host, header_map: raw } = http
  const headers = raw === undefined ? fromMap(http.headers) : fromRaw(raw.headers ?? [])
  const ip = attributes?.source?.address?.socket_address?.address
  return {
    ...requestAt(path),
    method,
    headers,
    ...(host !== undefined && { host }),
    ...(ip !== undefined && { ip }),
  }
}

function fromMap(entries: MapEntries = []): Record<string, string> {
  return Object.fromEntries(entries.map(({ key = '', value = '' }) => [key, value]))
}

/** Headers as they arrived (`encode_raw_headers`): those of one name are joined as HTTP joins them. */
function fromRaw(
  headers: readonly { readonly key?: string; readonly raw_value?: Uint8Array }[],
): Record<string, string> {
  const joined = new Map<string, string>()
  for (const { key = '', raw_value: bytes = new Uint8Array() } of headers) {
    const name = key.toLowerCase()
    const value = Buffer.from(bytes).toString('latin1')
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(joined)
}

function responseOf({
  decision,
  response: { status, headers, upstreamHeaders = [], body },
}: Reply): CheckResponse {
  if (!decision.allowed) {
    const code = status === 403 ? PERMISSION_DENIED : RESOURCE_EXHAUSTED
    return denied(code, status, headers, JSON.stringify(body))
  }
  return {
    status: { code: OK },
    ok_response: {
      headers: upstreamHeaders.map(overwriting),
      headers_to_remove: upstreamHeaders.length === 0 ? [PRIORITY] : [],
      response_headers_to_add: headers.map(overwriting),
    },
  }
}

function denied(code: number, status: number, headers: readonly Header[], body: string): CheckResponse {
  return {
    status: { code },
    denied_response: { status: { code: status }, headers: headers.map(overwriting), body },
  }
}

function overwriting([key, value]: Header): HeaderValueOption {
  return { header: { key, value }, append_action: OVERWRITE }
}
