import type { Request } from '../request.ts'
import { compile } from './compile.ts'
import type { Matched } from './compiled-rules.ts'
import type { Limit } from './domain.ts'
import { matchRequest } from './match.ts'

/** A limit for tests: 5 a minute for all, but for what `own` says. */
export function limit(own: Partial<Limit>): Limit {
  return {
    name: 'a',
    key: [],
    limit: { limit: 5, period: '1m' },
    algorithm: 'fixed-window',
    cost: 1,
    onLimit: 'deny',
    mode: 'enforce',
    onStoreError: 'open',
    onMissingKey: 'skip',
    exempt: [],
    overrides: [],
    replaces: [],
    ...own,
  }
}

export function match(limits: readonly Partial<Limit>[], request: Request, cost?: number): Matched {
  const rules = compile([{ name: 'shop', limits: limits.map(limit), descriptors: [] }], { secret: 'secret' })
  return matchRequest(rules, 'shop', request, cost)
}

export function names(limits: readonly Partial<Limit>[], request: Request): string[] {
  return match(limits, request).steps.map(({ rule }) => rule.name)
}

export function key(
  parts: readonly string[],
  request: Request,
  own: Partial<Limit> = {},
): string | undefined {
  return match([{ key: parts, ...own }], request).steps[0]?.key
}
