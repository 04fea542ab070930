import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answered, entries, type GrpcBench, grpcBench } from '../grpc/calls.test-support.ts'

const FIXTURES = join(import.meta.dirname, '../../../rulebook/fixtures/valid')

/** A rulebook of the fixtures, which are those of envoyproxy/ratelimit's tests. */
export function fixture(name: string): string {
  return readFileSync(join(FIXTURES, `${name}.yaml`), 'utf8')
}

export type Hits = Readonly<Record<string, number>>

const NAMES = ['total_hits', 'over_limit', 'near_limit', 'within_limit', 'shadow_mode'] as const

/** What the metrics of envoyproxy/ratelimit say, by `domain.key1.key2`, without those that are 0. */
export async function hitsOf({ admin }: Pick<GrpcBench, 'admin'>): Promise<Readonly<Record<string, Hits>>> {
  const { body } = await admin.inject({ method: 'GET', url: '/metrics' })
  const all = new Map<string, Record<string, number>>()
  for (const name of NAMES) {
    const pattern = new RegExp(`^ratelimit_service_rate_limit_${name}\\{(.*)\\} (\\d+)$`, 'gm')
    for (const [, labels = '', value] of body.matchAll(pattern)) {
      const values = [...labels.matchAll(/="((?:[^"\\]|\\.)*)"/g)].map(([, label]) => label!)
      const key = values.join('.')
      const hits = all.get(key) ?? {}
      if (value !== '0') hits[name] = Number(value)
      all.set(key, hits)
    }
  }
  return Object.fromEntries(all)
}

/** What one descriptor meets: `5/SECOND test-domain.key1`, or nothing, by a service that nobody has asked before. */
export async function met(
  service: GrpcBench,
  domain: string,
  pairs: readonly string[],
  own: object = {},
): Promise<string> {
  const before = await hitsOf(service)
  const { statuses } = await service.shouldRateLimit({
    domain,
    descriptors: [{ ...entries(...pairs), ...own }],
  })
  const { current_limit: limit, limit_remaining } = statuses[0]!
  if (limit === null) return limit_remaining === 0 ? 'none' : 'unlimited'
  const after = await hitsOf(service)
  const key = Object.keys(after).find(
    (each) => (after[each]?.total_hits ?? 0) > (before[each]?.total_hits ?? 0),
  )
  return `${limit.requests_per_unit}/${limit.unit} ${key}`
}

/** Codes of as many requests for the same descriptors. */
export async function codes(
  service: Pick<GrpcBench, 'shouldRateLimit'>,
  domain: string,
  count: number,
  ...descriptors: object[]
): Promise<string[]> {
  const found: string[] = []
  for (let i = 0; i < count; i++)
    found.push((await service.shouldRateLimit({ domain, descriptors })).overall_code)
  return found
}

export type { Answered }
export { entries, type GrpcBench, grpcBench }
