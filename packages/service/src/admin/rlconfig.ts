import type { Descriptor } from '@sluice/limiter/rules'
import type { App } from '../app.ts'
import type { LiveRules } from '../rules/live-rules.ts'

/** `GET /rlconfig`: the limits of descriptors in force, a line each, as envoyproxy/ratelimit writes them. */
export function rlconfigRoute(app: App, rules: LiveRules): void {
  app.get('/rlconfig', async (_request, reply) => {
    const domains = [...(rules.live?.domains.values() ?? [])]
    const lines = domains.flatMap(({ domain: { name, descriptors } }) => linesOf(descriptors, name))
    return reply.type('text/plain').send(lines.map((line) => `${line}\n`).join(''))
  })
}

function linesOf(descriptors: readonly Descriptor[], above: string): string[] {
  return descriptors.flatMap(({ key, value, rateLimit, shadowMode, quotaMode, descriptors: below }) => {
    const path = `${above}.${value === undefined || value === '' ? key : `${key}_${value}`}`
    const rest = linesOf(below, path)
    if (rateLimit === undefined) return rest
    const { unit, quota } = rateLimit
    const period = unit === undefined && quota !== undefined ? ` period=${periodText(quota.period)}` : ''
    return [
      `${path}: unit=${(unit ?? 'unknown').toUpperCase()} requests_per_unit=${quota?.limit ?? 0}, shadow_mode: ${shadowMode}, quota_mode: ${quotaMode}${period}`,
      ...rest,
    ]
  })
}

function periodText(period: number | string | object): string {
  return typeof period === 'object'
    ? JSON.stringify(period)
    : typeof period === 'number'
      ? `${period}ms`
      : period
}
