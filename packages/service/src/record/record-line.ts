import { receiptOf } from '@sluice/limiter/decide'
import type { Domain, Request } from '@sluice/limiter/rules'
import type { AskedDescriptor } from '../operations/asked-steps.ts'
import type { DescriptorReply } from '../operations/descriptors.ts'
import { type NamedValues, namedValues } from './named-values.ts'
import type { Pseudonyms } from './pseudonyms.ts'

/** By which API it was asked: `/v1/*`, for proxies (`/auth`, Envoy's external authorization), Envoy's rate limits. */
type RecordedApi = 'http' | 'auth' | 'rls'

/** A question that was answered. */
export interface AnsweredQuestion {
  readonly api: RecordedApi
  readonly domain: string
  readonly request?: Request | undefined
  readonly descriptors?: readonly AskedDescriptor[] | undefined
  readonly cost?: number | undefined
  readonly peek: boolean
  readonly decision: DescriptorReply['decision']
}

export interface LineParts {
  readonly pseudonyms: Pseudonyms
  /** Names of what is written as it is. */
  readonly plain: ReadonlySet<string>
  /** The rules in force. */
  readonly domainOf: (name: string) => Domain | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Makes the lines of a record: what is known of the request but its headers and its query, which may hold secrets, and
 * what was answered. `time` is that of the decision, by the clock of the store.
 * @returns nothing for a question that only gave something back
 */
export function recordLines(parts: LineParts): (answered: AnsweredQuestion) => string | undefined {
  const { pseudonyms, plain, domainOf, now } = parts
  const named = new WeakMap<Domain, NamedValues>()
  const namedOf = (name: string): NamedValues => {
    const domain = domainOf(name)
    if (domain === undefined) return NOTHING
    const values = named.get(domain) ?? namedValues(domain)
    named.set(domain, values)
    return values
  }
  const isPlain = (name: string): boolean => plain.has(name) && name !== 'api-key'
  const shown = (name: string, value: string, { values }: NamedValues): string =>
    isPlain(name) || values.has(value) ? value : pseudonyms.text(value)
  return (answered) => {
    const { api, domain, request, cost, peek, decision } = answered
    const known = namedOf(domain)
    const address = (ip: string): string =>
      isPlain('ip') || known.values.has(ip) ? ip : pseudonyms.address(ip)
    const descriptors = answered.descriptors?.filter(({ refund }) => refund !== true)
    if (answered.descriptors !== undefined && descriptors!.length === 0) return undefined
    const { allowed, policy, remaining, retryAfterMs, degraded } = decision
    const at = receiptOf(decision)?.outcome.at ?? 0
    return JSON.stringify({
      time: timeText(at > 0 ? at : now() * 1_000),
      api,
      domain,
      asked: {
        ...(request && { request: requestShown(request, address, known, shown) }),
        ...(descriptors && {
          descriptors: descriptors.map(({ refund: _, entries, ...rest }) => ({
            entries: entries.map(({ key, value }) => ({ key, value: shown(key, value, known) })),
            ...rest,
          })),
        }),
        ...(cost !== undefined && { cost }),
      },
      ...(peek && { peek }),
      allowed,
      policy,
      remaining,
      waitMs: retryAfterMs,
      ...(degraded && { degraded }),
    })
  }
}

const NOTHING: NamedValues = { values: new Set(), costs: new Set() }

function requestShown(
  { method, path, host, ip, attributes = {} }: Request,
  address: (ip: string) => string,
  known: NamedValues,
  shown: (name: string, value: string, known: NamedValues) => string,
): Request {
  const kept = Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined) return []
    return [[name, known.costs.has(name) ? value : shown(name, String(value), known)] as const]
  })
  return {
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path: path.split('?', 1)[0]! }),
    ...(host !== undefined && { host }),
    ...(ip !== undefined && { ip: address(ip) }),
    ...(kept.length > 0 && { attributes: Object.fromEntries(kept) }),
  }
}

/** Microseconds since the epoch as RFC 3339 with six decimals. */
function timeText(at: number): string {
  const ms = Math.floor(at / 1_000)
  const micros = Math.floor(at - ms * 1_000)
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}
