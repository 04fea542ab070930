import type { Limit } from '@sluice/limiter/rules'
import { envoyActions } from './envoy/actions.ts'
import { madeRules } from './limits/made-rules.ts'
import { bucketForWindow, figure, type Shape, shapeOf, shapeText, timeText } from './limits/shape.ts'
import { comment, shown, withNotes } from './notes.ts'
import type { ExportTarget } from './target.ts'

/** Envoy keeps tokens in 32 bits, and refuses shorter intervals. */
const MOST_TOKENS = 4_294_967_295
const LEAST_INTERVAL_MS = 50

const FILTER = 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit'

/** The filter local_ratelimit, as a resource that Envoy reads again when the file is replaced. */
export const envoy: ExportTarget = {
  write(domain, keys) {
    const { rules, notes } = madeRules(domain, ruleOf)
    const intro = [
      `Limits of ${shown(domain.name)}, by sluice export envoy. Name this file in the http_filters, before the router:`,
      '  - name: sluice',
      '    config_discovery:',
      '      config_source: { path_config_source: { path: /etc/envoy/sluice.yaml }, resource_api_version: V3 }',
      `      type_urls: [${FILTER}]`,
      'Each Envoy counts for itself. Of more keys than max_dynamic_descriptors, the ones unused longest begin again.',
      'Where several limits apply, those with the lower rates are charged first, also when a later one refuses.',
    ]
    const body = [
      'resources:',
      '  - "@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
      '    name: sluice',
      '    typed_config:',
      `      "@type": ${FILTER}`,
      '      stat_prefix: sluice',
      '      filter_enabled: { default_value: { numerator: 100 } }',
      '      filter_enforced: { default_value: { numerator: 100 } }',
      '      enable_retry_after_header: true',
      `      max_dynamic_descriptors: ${keys}`,
      '      # For requests that no limit is for.',
      '      always_consume_default_token_bucket: false',
      `      token_bucket: { max_tokens: ${MOST_TOKENS}, tokens_per_fill: ${MOST_TOKENS}, fill_interval: 1s }`,
      ...listOf('rate_limits', rules, ({ actions }) => ({ actions })),
      ...listOf('descriptors', rules, ({ descriptor }) => descriptor),
    ]
    return withNotes(intro, body, notes)
  },
}

interface EnvoyRule {
  readonly about: string
  readonly actions: readonly object[]
  readonly descriptor: object
  readonly differences: readonly string[]
}

/** Each item on one line, as JSON, which is YAML too: what a name or a value has in it cannot end it. */
function listOf(name: string, rules: readonly EnvoyRule[], item: (rule: EnvoyRule) => object): string[] {
  if (rules.length === 0) return []
  return [
    `      ${name}:`,
    ...rules.flatMap((rule) => [`        ${rule.about}`, `        - ${JSON.stringify(item(rule))}`]),
  ]
}

function ruleOf(limit: Limit): EnvoyRule | string {
  const made = envoyActions(limit)
  if (typeof made === 'string') return made
  const shape = shapeOf(limit)
  const bucket = bucketOf(shape)
  if (typeof bucket === 'string') return bucket
  return {
    about: comment(`${shown(limit.name)}: ${shapeText(shape)}`),
    actions: made.actions,
    descriptor: { entries: made.entries, token_bucket: bucket },
    differences: shape.kind === 'window' ? [bucketForWindow(shape)] : [],
  }
}

function bucketOf({ kind, limit, period, burst }: Shape): object | string {
  switch (kind) {
    case 'queue':
      return 'it holds requests back, and Envoy would refuse them'
    case 'slots':
      return 'it counts requests at one time, and Envoy has no such limit for each key'
    case 'log':
    case 'sliding':
      return `its window slides, and Envoy has a bucket: up to ${2 * limit - 1} would pass in ${timeText(period)}, where the rule admits ${kind === 'log' ? limit : `${limit} or little more`}`
  }
  if (Math.max(burst, limit) > MOST_TOKENS) return `Envoy has at most ${MOST_TOKENS} tokens`
  const times = Math.max(1, Math.ceil(LEAST_INTERVAL_MS / period))
  return {
    max_tokens: burst,
    tokens_per_fill: limit * times,
    fill_interval: `${figure((period * times) / 1_000)}s`,
  }
}
