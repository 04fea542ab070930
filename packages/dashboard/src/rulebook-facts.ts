import { durationText } from '@sluice/observe/live'

/** What the page says of a limit beside its figures. */
export interface LimitFacts {
  readonly domain: string
  readonly policy: string
  /** Such as `5 per min`. */
  readonly limit: string
  /** `shadow`, `low priority`, or nothing. */
  readonly mode: string
}

interface QuotaBody {
  readonly limit: number
  readonly period: number | string | { readonly unit?: string; readonly every?: string }
}

type LimitValue =
  | QuotaBody
  | { readonly plans: Readonly<Record<string, QuotaBody>>; readonly otherwise: QuotaBody }

interface RulesBody {
  readonly domains?: readonly {
    readonly name: string
    readonly limits: readonly {
      readonly name: string
      readonly limit: LimitValue
      readonly mode?: string
      readonly onLimit?: string
      /** Of an app: how many quotas the limit has; `limit` is one of them. */
      readonly quotas?: number
    }[]
    readonly descriptors: readonly {
      readonly name?: string
      readonly path: readonly string[]
      readonly limit?: QuotaBody
      readonly mode?: string
    }[]
  }[]
}

/** Every limit of what `GET /v1/rules` answers. */
export function limitsOf({ domains = [] }: RulesBody): readonly LimitFacts[] {
  return domains.flatMap(({ name: domain, limits, descriptors }) => [
    ...limits.map(({ name, limit, mode, onLimit, quotas = 1 }) => ({
      domain,
      policy: name,
      limit: quotas > 1 ? `${limitText(limit)}, and others` : limitText(limit),
      mode: modeText(mode, onLimit),
    })),
    ...descriptors.map(({ name, path, limit, mode }) => ({
      domain,
      policy: name ?? path.join('.').replaceAll('=', '_'),
      limit: limit === undefined ? 'unlimited' : limitText(limit),
      mode: modeText(mode),
    })),
  ])
}

function modeText(mode?: string, onLimit?: string): string {
  if (mode === 'shadow') return 'shadow'
  return onLimit === 'deprioritize' ? 'low priority' : ''
}

function limitText(limit: LimitValue): string {
  if ('otherwise' in limit) {
    const plans = Object.entries(limit.plans).map(([name, quota]) => `${name} ${quotaText(quota)}`)
    return [...plans, `others ${quotaText(limit.otherwise)}`].join(', ')
  }
  return quotaText(limit)
}

function quotaText({ limit, period }: QuotaBody): string {
  const per = typeof period === 'object' ? `calendar ${period.unit ?? period.every ?? 'period'}` : period
  const words = typeof per === 'number' ? durationText(per).replace(/^1 (?=\S+$)/, '') : per
  return `${limit.toLocaleString('en')} per ${words}`
}
