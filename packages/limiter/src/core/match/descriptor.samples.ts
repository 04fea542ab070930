import { compile } from './compile.ts'
import { type DescriptorQuery, type MatchedDescriptors, matchDescriptors } from './descriptors.ts'
import type { Descriptor, DescriptorLimit } from './domain.ts'

export type Pair = readonly [key: string, value: string]

/** For tests: so many requests a unit. */
export function rateLimit(limit: number, unit: string, own: Partial<DescriptorLimit> = {}): DescriptorLimit {
  const period = { second: '1s', minute: '1m', hour: '1h', day: '1d' }[unit]!
  return {
    algorithm: 'fixed-window',
    onLimit: 'deny',
    mode: 'enforce',
    onStoreError: 'open',
    unlimited: false,
    quota: { limit, period },
    unit,
    replaces: [],
    ...own,
  }
}

export function unlimited(): DescriptorLimit {
  const { quota, unit, ...rest } = rateLimit(0, 'day')
  return { ...rest, unlimited: true }
}

/** `key=value` or `key`, with its limit and what hangs below it. */
export function at(path: string, rateLimit?: DescriptorLimit, own: Partial<Descriptor> = {}): Descriptor {
  const [key = '', value] = path.split('=')
  return {
    key,
    ...(value !== undefined && { value }),
    ...(rateLimit !== undefined && { rateLimit }),
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    descriptors: [],
    ...own,
  }
}

export function under(path: string, ...descriptors: Descriptor[]): Descriptor {
  return at(path, undefined, { descriptors })
}

export function ask(
  tree: readonly Descriptor[],
  descriptors: readonly DescriptorQuery[],
  domain = 'test-domain',
): MatchedDescriptors {
  const rules = compile([{ name: 'test-domain', limits: [], descriptors: tree }])
  return matchDescriptors(rules, domain, descriptors)
}

export function query(pairs: readonly Pair[], own: Partial<DescriptorQuery> = {}): DescriptorQuery {
  return { entries: pairs.map(([key, value]) => ({ key, value })), ...own }
}

/** What one descriptor meets: `5/second test-domain.key1`, or nothing. */
export function met(tree: readonly Descriptor[], ...pairs: Pair[]): string | undefined {
  const own = ask(tree, [query(pairs)]).statuses[0]!.limit
  return own && `${own.unlimited ? 'unlimited' : `${own.requestsPerUnit}/${own.unit}`} ${own.statsKey}`
}

export function keys(tree: readonly Descriptor[], ...queries: (readonly Pair[])[]): string[] {
  return queries.map((pairs) => {
    const { steps } = ask(tree, [query(pairs)])
    const [step] = steps
    return `${step?.rule.namespace} ${step?.rule.plan.kind} ${step?.key}`
  })
}

export const basic: readonly Descriptor[] = [
  under(
    'key1=value1',
    at('subkey1', rateLimit(5, 'second')),
    at('subkey1=subvalue1', rateLimit(10, 'second')),
  ),
  at('key2', rateLimit(20, 'minute')),
  at('key2=value2', rateLimit(30, 'minute')),
  at('key2=value3'),
  at('key3', rateLimit(1, 'hour')),
  at('key4', rateLimit(1, 'day', { name: 'daily' })),
  at('key5=value5', rateLimit(15, 'day'), { descriptors: [at('subkey5=subvalue5', rateLimit(25, 'day'))] }),
  at('key6', unlimited()),
  at('key7', rateLimit(70, 'minute'), { detailedMetric: true }),
]
