import type { Descriptor } from '@sluice/limiter/rules'
import type { Placed } from '../lint/placed.ts'
import { nodeAt } from '../syntax/source.ts'
import type { Advice } from './advice.ts'
import { adviceOn, isWindow, leaseAdvice, OPEN_WORDS, windowWords } from './limits.ts'
import { namesLogin } from './login.ts'

/**
 * Advice on a descriptor and those below it. Windows and failure modes count only where they are written: the defaults
 * are those of envoyproxy/ratelimit, whose files are to mean the same here.
 */
export function adviseDescriptor(place: Placed<Descriptor>, above = false): Advice[] {
  const { key, value, rateLimit: limit, shadowMode, descriptors } = place.rule
  const isLogin = above || [key, value ?? ''].some(namesLogin)
  const below = descriptors.flatMap((rule, index) =>
    adviseDescriptor({ ...place, rule, path: [...place.path, 'descriptors', index] }, isLogin),
  )
  if (limit?.quota === undefined) return below
  const name = limit.name ?? (value === undefined ? key : `${key}_${value}`)
  const units = limit.quota.limit
  const isWritten = (field: string): boolean =>
    nodeAt(place.source, [...place.path, 'rate_limit', field]) !== undefined
  const isEnforced = isLogin && !shadowMode && limit.mode === 'enforce'
  return [
    ...(isEnforced && isWritten('algorithm') && isWindow(limit)
      ? [adviceOn(place, ['rate_limit', 'algorithm'], 'window-on-login', name, ...windowWords(units))]
      : []),
    ...(isEnforced && isWritten('on_store_error') && limit.onStoreError === 'open'
      ? [adviceOn(place, ['rate_limit', 'on_store_error'], 'open-login', name, ...OPEN_WORDS)]
      : []),
    ...leaseAdvice(place, ['rate_limit', 'lease'], name, limit, units),
    ...below,
  ]
}
