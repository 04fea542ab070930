const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/**
 * A count, with commas.
 * @example
 * wholeText(1234567) // '1,234,567'
 */
export function wholeText(count: number): string {
  return WHOLE.format(count)
}

/**
 * Per second: one digit after the point below ten.
 * @example
 * perSecondText(2.34) // '2.3'
 */
export function perSecondText(rate: number): string {
  return rate > 0 && rate < 10 ? rate.toFixed(1) : wholeText(rate)
}

/**
 * A share in percent; `–` of nothing.
 * @example
 * shareText(1, 3) // '33 %'
 */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–'
  const percent = (part / whole) * 100
  if (percent > 0 && percent < 1) return '< 1 %'
  if (percent > 99 && percent < 100) return '> 99 %'
  return `${Math.round(percent)} %`
}

/**
 * Milliseconds with three digits, in µs, ms or s; `–` where there were none.
 * @example
 * msText(0.012) // '12 µs'
 */
export function msText(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`
  return ms < 1_000 ? `${Number(ms.toPrecision(3))} ms` : durationText(ms)
}

/**
 * A wait in its two largest units; null is never.
 * @example
 * durationText(260_000) // '4 min 20 s'
 */
export function durationText(ms: number | null): string {
  if (ms === null) return 'never'
  if (ms === 0) return '0'
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  const seconds = Math.ceil(ms / 1_000)
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/**
 * The name of a policy. Middleware with one limit calls it `default`: then its own name says more.
 * @example
 * policyWords({ domain: 'login', policy: 'default' }) // 'login · default'
 */
export function policyWords({
  domain,
  policy,
}: {
  readonly domain: string
  readonly policy: string
}): string {
  return policy === 'default' ? `${domain} · ${policy}` : policy
}

/**
 * The key of a limit that all requests share has no text.
 * @example
 * keyWords('') // '(everyone)'
 */
export function keyWords(key: string): string {
  return key === '' ? '(everyone)' : key
}
