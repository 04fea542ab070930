import { parseAddress } from '../../../core/identify/ip.ts'
import type { Key, Keys } from '../../../policy-steps.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { GateSettings } from '../options/settings.ts'
import { warningsOf } from '../options/warnings.ts'

/** So many keys are looked at. */
const FIRST = 1_000

/**
 * Warns, once, of keys that are whole IPv6 addresses: a host has 2^64 of them or more, and so as many counters.
 * `undefined` where the options want no such warning.
 */
export function wholeAddressWarning<N extends FrameworkArgs>({
  validate,
  logger,
}: Pick<GateSettings<N>, 'validate' | 'logger'>): ((key: Key | Keys) => void) | undefined {
  if (!warningsOf(validate)('keyGeneratorIpFallback')) return undefined
  let left = FIRST
  return (key) => {
    if (left === 0) return
    left--
    const texts: readonly string[] = typeof key === 'string' ? [key] : Object.values(key).flat()
    if (!texts.some(isWholeIpv6)) return
    left = 0
    logger.warn(
      'rate limit: key gives whole IPv6 addresses, of which one host has very many, each with a limit of its own: give ipKey(address), or leave key out; see https://github.com/sluice-limiter/sluice/blob/main/docs/frameworks/README.md#callers-and-keys',
    )
  }
}

function isWholeIpv6(text: string): boolean {
  return text.includes(':') && !text.includes('/') && parseAddress(text)?.version === 6
}
