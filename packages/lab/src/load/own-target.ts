import { isIPv4 } from 'node:net'

/**
 * Whether requests to `url` stay on this machine, or go to a host that its user has named as his own: a load that is
 * sent to others is an attack.
 * @param mine names of hosts, as they stand in the URL
 * @example
 * isOwnTarget('http://127.0.0.1:3000/', []) // true
 * isOwnTarget('http://example.com/', []) // false
 */
export function isOwnTarget(url: string, mine: readonly string[]): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return (
    host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.')) || mine.includes(host)
  )
}
