import type { Decision, PolicyFigures } from '@sluice/limiter'
import {
  flag,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  shareCheck,
  that,
  wholeFrom,
} from '@sluice/limiter/options'

/**
 * How headers lie: units are left when there are none (`plenty`), waits are a tenth of what they are (`soon`) or ten
 * thousand times as long (`never`), or values are no values (`nonsense`).
 */
export type MockLie = 'plenty' | 'soon' | 'never' | 'nonsense'

/** What goes wrong with answers. Shares are of all answers, or of all refusals, from 0 to 1; default 0. */
export interface MockFaults {
  /** Refusals without any header that says why. */
  readonly bare?: number
  /** Refusals with a page of HTML for a body. */
  readonly html?: number
  /** Answers that are cut off in the middle of their body. */
  readonly cut?: number
  /** Answers that come in pieces, over `slowMs`. */
  readonly slow?: number
  /** Milliseconds. Default 1,000. */
  readonly slowMs?: number
  /** Calls that get no answer: the connection is closed. */
  readonly lost?: number
  /** Milliseconds by which the server's clock is ahead; behind, if negative. */
  readonly skewMs?: number
  readonly lie?: MockLie
  /** With a wrong clock: no `Date`, by which clients could tell. */
  readonly noDate?: boolean
}

const FIELDS: OptionFields<MockFaults> = {
  bare: shareCheck,
  html: shareCheck,
  cut: shareCheck,
  slow: shareCheck,
  slowMs: wholeFrom(1, 600_000),
  lost: shareCheck,
  skewMs: that('a whole number of milliseconds', Number.isSafeInteger),
  lie: oneOf('plenty', 'soon', 'never', 'nonsense'),
  noDate: flag,
}

export const faultsCheck: OptionCheck = /* @__PURE__ */ objectOf<MockFaults>(FIELDS)

const FACTORS: Readonly<Record<string, number>> = { soon: 0.1, never: 10_000 }

/** A decision as a lying server states it. */
export function lyingDecision(decision: Decision, lie: MockLie): Decision {
  const factor = FACTORS[lie] ?? 1
  const lying = <F extends PolicyFigures | Decision>(figures: F): F => ({
    ...figures,
    remaining: lie === 'plenty' ? figures.limit : figures.remaining,
    retryAfterMs: scaled(figures.retryAfterMs, factor),
    moreAfterMs: scaled(figures.moreAfterMs, factor),
    resetAfterMs: scaled(figures.resetAfterMs, factor),
  })
  return { ...lying(decision), policies: decision.policies.map(lying) }
}

function scaled(ms: number | null, factor: number): number | null {
  return ms === null ? null : ms * factor
}

const NONSENSE = [
  '-5',
  'NaN',
  '1e99',
  '',
  'soon',
  '"',
  '9'.repeat(400),
  'Thu, 99 Foo 2026 25:61:61 GMT',
  '\u00e9',
]

/** A value that is none, another each time. */
export function nonsense(random: () => number): string {
  return NONSENSE[Math.floor(random() * NONSENSE.length)]!
}
