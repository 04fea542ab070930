import type { Decision } from '../decide/decision.ts'
import { checkOptions, type OptionFields, objectOf, oneOf, shareCheck, textCheck, that } from '../options.ts'
import { dialectsCheck, writersOf } from './dialect-writers.ts'
import type { Jitter } from './jitter.ts'
import { reportFields } from './report.ts'
import { type LimitResponse, type RespondOptions, responseTo } from './response.ts'

/** What the options of an answer may be. */
export const respondFields: OptionFields<RespondOptions> = {
  ...reportFields,
  dialect: dialectsCheck,
  when: oneOf('always', 'denied'),
  retryAfter: oneOf('seconds', 'date'),
  jitter: objectOf<Jitter>(
    { share: shareCheck, key: textCheck, seed: that('a whole number', Number.isSafeInteger) },
    ['share', 'key', 'seed'],
  ),
  problemInstance: textCheck,
}
const OPTIONS = /* @__PURE__ */ objectOf(respondFields, ['nowMs'])

/**
 * A decision as HTTP: 429 for a quota or a block, 503 when it was refused without the store, 403 for want of a key. A
 * refusal carries Retry-After, unless no wait helps, a problem, and `Cache-Control: no-store` (RFC 6585 §4: a 429 must
 * not be stored). For the next hop, an admitted request over a limit that only lowers the priority has
 * `Sluice-Priority: low`.
 * @throws ConfigError for invalid options
 * @example
 * const { status, headers, body } = respondTo(decision, { dialect: 'ietf', nowMs: Date.now() })
 */
export function respondTo(decision: Decision, options: RespondOptions): LimitResponse {
  checkOptions(options, OPTIONS)
  return responseTo(decision, writersOf(options.dialect ?? 'ietf'), options)
}
