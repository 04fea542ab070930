import { type AlgorithmName, ConfigError, type Policy } from '@sluice/limiter'
import { algorithms, planOf } from '@sluice/limiter/algorithms'
import fc from 'fast-check'

const LARGEST = Number.MAX_SAFE_INTEGER

const PERIODS: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 1, max: 30 }),
  fc.constantFrom(1e3, 1e6, 6e7, 1.08e10, 8.64e10, 6.048e11, 3.1536e13),
  fc.integer({ min: 1, max: 2 ** 40 }),
  fc.integer({ min: 1, max: 2 ** 52 }),
)

const LIMITS: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 1, max: 1_000_000 }),
)

/**
 * Policies of one algorithm: tiny, everyday, and as large as it accepts at all.
 * @param more options that it shall have besides
 * @example
 * fc.assert(fc.property(policiesOf('gcra', { burst: 5 }), ({ limit }) => limit >= 0))
 */
export function policiesOf(algorithm: AlgorithmName, more: Partial<Policy> = {}): fc.Arbitrary<Policy> {
  const bursts = Object.hasOwn(algorithms[algorithm].options, 'burst')
  return fc
    .record({
      period: PERIODS,
      limit: LIMITS,
      burst: fc.option(LIMITS, { nil: undefined }),
      stretch: fc.constantFrom('limit', 'burst', undefined, undefined, undefined, undefined),
    })
    .map(({ period, limit, burst, stretch }) => {
      const policy: Policy = {
        algorithm,
        limit,
        period: `${period}us`,
        ...(bursts && burst !== undefined && { burst: Math.max(1, burst) }),
        ...more,
      }
      return stretch === undefined || (stretch === 'burst' && !bursts) ? policy : stretched(policy, stretch)
    })
}

/** The policy with the largest limit, or burst, that is still accepted. */
function stretched(policy: Policy, field: 'limit' | 'burst'): Policy {
  let fits = 1
  let fails = LARGEST + 1
  while (fails - fits > 1) {
    const middle = fits + Math.floor((fails - fits) / 2)
    if (accepted({ ...policy, [field]: middle })) fits = middle
    else fails = middle
  }
  return { ...policy, [field]: fits }
}

export function accepted(policy: Policy): boolean {
  try {
    planOf(policy)
    return true
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}
