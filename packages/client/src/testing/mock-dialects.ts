import {
  type Dialect,
  type DialectName,
  dialects,
  dialectsOf,
  expiringOf,
  type Header,
  type Report,
} from '@sluice/limiter/respond'

/** Writes the headers of one service, as its documentation has them. */
type HeaderWriter = Dialect['headers']

/** Dialects that only services speak. */
type ServiceDialect = 'discord' | 'openai' | 'anthropic' | 'gitlab' | 'envoy'

/** Their writers; the limiter's own are in `@sluice/limiter/respond`. */
const SERVICE_DIALECTS: Readonly<Record<ServiceDialect, HeaderWriter>> = {
  discord: (report) =>
    expiringLines(report, ({ limit, remaining, resetAfterMs, name }) => [
      ['X-RateLimit-Limit', `${limit}`],
      ['X-RateLimit-Remaining', `${remaining}`],
      ['X-RateLimit-Reset', ((report.nowMs + resetAfterMs) / 1_000).toFixed(3)],
      ['X-RateLimit-Reset-After', (Math.ceil(resetAfterMs) / 1_000).toFixed(3)],
      ['X-RateLimit-Bucket', name],
    ]),
  openai: (report) =>
    report.policies.flatMap(({ policy, limit, remaining, resetAfterMs }) => [
      [`x-ratelimit-limit-${policy}`, `${limit}`],
      [`x-ratelimit-remaining-${policy}`, `${Math.max(0, remaining)}`],
      ...(resetAfterMs === null ? [] : [[`x-ratelimit-reset-${policy}`, goDuration(resetAfterMs)] as const]),
    ]),
  anthropic: (report) =>
    report.policies.flatMap(({ policy, limit, remaining, resetAfterMs }) => [
      [`anthropic-ratelimit-${policy}-limit`, `${limit}`],
      [`anthropic-ratelimit-${policy}-remaining`, `${Math.max(0, remaining)}`],
      ...(resetAfterMs === null
        ? []
        : [[`anthropic-ratelimit-${policy}-reset`, instant(report.nowMs + resetAfterMs)] as const]),
    ]),
  gitlab: (report) =>
    expiringLines(report, ({ limit, remaining, resetAfterMs, name }) => [
      ['RateLimit-Limit', `${limit}`],
      ['RateLimit-Remaining', `${remaining}`],
      ['RateLimit-Observed', `${limit - remaining}`],
      ['RateLimit-Name', name],
      ['RateLimit-Reset', `${Math.ceil((report.nowMs + resetAfterMs) / 1_000)}`],
    ]),
  envoy: (report) =>
    dialects['draft-03']()
      .headers(report)
      .map(([name, value]) => [`x-${name.toLowerCase()}`, value]),
}

/** The dialects that a mock speaks: all of the limiter's, and those of some services. `none`: no such headers. */
export type MockDialect = DialectName | ServiceDialect | 'none'

export const MOCK_DIALECTS: readonly MockDialect[] = [
  ...(Object.keys(dialects) as DialectName[]),
  ...(Object.keys(SERVICE_DIALECTS) as ServiceDialect[]),
  'none',
]

/** What writes the headers of a dialect. */
export function writerOf(name: MockDialect): HeaderWriter {
  if (name === 'none') return () => []
  if (Object.hasOwn(SERVICE_DIALECTS, name)) return SERVICE_DIALECTS[name as ServiceDialect]
  const [dialect] = dialectsOf(name as DialectName)
  return (report) => dialect!.headers(report)
}

interface ExpiringFigures {
  readonly name: string
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number
}

function expiringLines(report: Report, lines: (figures: ExpiringFigures) => Header[]): Header[] {
  const expiring = expiringOf(report)
  return expiring === undefined ? [] : lines({ ...expiring, name: expiring.policy.policy })
}

/** As Go prints it: `20ms`, `1.5s`, `6m0s`, `1h0m30s`; milliseconds are rounded up. */
function goDuration(ms: number): string {
  const whole = Math.ceil(ms)
  if (whole < 1_000) return `${whole}ms`
  const [hours, minutes] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60]
  const seconds = `${(whole % 60_000) / 1_000}s`
  return hours > 0 ? `${hours}h${minutes}m${seconds}` : minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/** RFC 3339 in whole seconds, rounded up. */
function instant(epochMs: number): string {
  return new Date(Math.ceil(epochMs / 1_000) * 1_000).toISOString().replace('.000Z', 'Z')
}
