/** The header names, in lower case, in which an API states one limit. */
export interface LimitFields {
  /** The limit's name, or the headers that may hold it. */
  readonly name?: string
  readonly namesIn?: readonly string[]
  readonly limit?: string
  readonly remaining?: string
  /** The first that is there counts. */
  readonly resets?: readonly string[]
  /** Lists quotas with their windows, as `100;w=60`. */
  readonly quotas?: string
  /** `32/40`: used, and the limit. */
  readonly used?: string
  /** Milliseconds. */
  readonly window?: string
}

/** Headers that come together. */
export interface FieldFamily {
  /** Of these one is there if any of the family is. */
  readonly probes: readonly string[]
  readonly limits: readonly LimitFields[]
}

/** `limit`, `remaining` and `reset` between what stands before and after them. */
function threeFields(before: string, after = '', rest: LimitFields = {}): LimitFields {
  return {
    limit: `${before}limit${after}`,
    remaining: `${before}remaining${after}`,
    resets: [`${before}reset${after}`],
    ...rest,
  }
}

/** Limits by kind: `x-ratelimit-limit-tokens` or, with `kindFirst`, `anthropic-ratelimit-tokens-limit`. */
function byKind(prefix: string, kinds: readonly string[], kindFirst: boolean): FieldFamily {
  const limits = kinds.map((kind) =>
    kindFirst
      ? threeFields(`${prefix}${kind}-`, '', { name: kind })
      : threeFields(prefix, `-${kind}`, { name: kind }),
  )
  return { probes: limits.slice(0, 2).map(({ remaining }) => remaining!), limits }
}

/** Headers that state what is left, and nothing else. */
function onlyRemaining(prefix: string, kinds: readonly string[]): FieldFamily {
  const limits = kinds.map((name) => ({ name, remaining: `${prefix}${name}` }))
  return { probes: limits.map(({ remaining }) => remaining), limits }
}

/** All that are known, beside the drafts that have one field `RateLimit`. The first that is there is read. */
export const FAMILIES: readonly FieldFamily[] = [
  {
    // Drafts 00 to 06; GitLab, with a reset since the epoch; Kong.
    probes: ['ratelimit-limit', 'ratelimit-remaining'],
    limits: [threeFields('ratelimit-', '', { namesIn: ['ratelimit-name'], quotas: 'ratelimit-policy' })],
  },
  {
    // GitHub (resource), Discord (bucket, reset-after), Envoy (quotas in the limit), express, Fastify, Nest, Reddit.
    probes: ['x-ratelimit-remaining', 'x-ratelimit-limit', 'x-ratelimit-reset'],
    limits: [
      threeFields('x-ratelimit-', '', {
        namesIn: ['x-ratelimit-resource', 'x-ratelimit-bucket'],
        resets: ['x-ratelimit-reset-after', 'x-ratelimit-reset', 'x-ratelimit-next'],
      }),
    ],
  },
  // OpenAI, and those who speak as it does.
  byKind('x-ratelimit-', ['requests', 'tokens', 'project-tokens', 'tokens_usage_based'], false),
  byKind('anthropic-ratelimit-', ['requests', 'tokens', 'input-tokens', 'output-tokens'], true),
  {
    // X (Twitter), Okta, Zendesk.
    probes: ['x-rate-limit-remaining'],
    limits: [
      threeFields('x-rate-limit-'),
      threeFields('x-app-limit-24hour-', '', { name: 'app-24hour' }),
      threeFields('x-user-limit-24hour-', '', { name: 'user-24hour' }),
    ],
  },
  // Linear.
  byKind('x-ratelimit-', ['requests', 'complexity'], true),
  { probes: ['x-shopify-shop-api-call-limit'], limits: [{ used: 'x-shopify-shop-api-call-limit' }] },
  {
    probes: ['x-hubspot-ratelimit-remaining'],
    limits: [
      {
        limit: 'x-hubspot-ratelimit-max',
        remaining: 'x-hubspot-ratelimit-remaining',
        window: 'x-hubspot-ratelimit-interval-milliseconds',
      },
      {
        name: 'daily',
        limit: 'x-hubspot-ratelimit-daily',
        remaining: 'x-hubspot-ratelimit-daily-remaining',
      },
    ],
  },
  // Azure Resource Manager.
  onlyRemaining('x-ms-ratelimit-remaining-', ['subscription-reads', 'subscription-writes']),
]
