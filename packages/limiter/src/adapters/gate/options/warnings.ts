import { flag, type OptionCheck, type OptionFields, objectOf } from '../../../core/options.ts'

/** What a gate warns of. All but `oneAddress` have the names that express-rate-limit has for the same. */
const OWN = ['xForwardedForHeader', 'forwardedHeader', 'oneAddress', 'keyGeneratorIpFallback'] as const
/** Checks of express-rate-limit without a warning here: what they look for is an error, or cannot happen. */
const THEIRS = [
  'ip',
  'trustProxy',
  'positiveHits',
  'unsharedStore',
  'singleCount',
  'limit',
  'draftPolliHeaders',
  'onLimitReached',
  'headersDraftVersion',
  'headersResetTime',
  'knownOptions',
  'validationsConfig',
  'creationStack',
  'ipv6Subnet',
  'ipv6SubnetOrKeyGenerator',
  'windowMs',
] as const
type Warning = (typeof OWN)[number]

/** Warnings by name; `default` is for those that are not named. Other checks of express-rate-limit change nothing. */
export type Warnings = {
  readonly [name in Warning | 'default' | (typeof THEIRS)[number]]?: boolean
}

const fields = Object.fromEntries([...OWN, 'default', ...THEIRS].map((name) => [name, flag]))
export const warningsCheck: OptionCheck = objectOf<Warnings>(fields as OptionFields<Warnings>, [], {
  what: 'an object with true or false for each warning',
})

/** Which warnings to give. */
export function warningsOf(validate: boolean | Warnings = true): (name: Warning) => boolean {
  if (typeof validate === 'boolean') return () => validate
  return (name) => validate[name] ?? validate.default ?? true
}
