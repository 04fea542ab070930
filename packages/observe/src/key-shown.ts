import { createHmac, randomBytes } from 'node:crypto'

/** How lists show keys: as the rules make them, where secrets are hashed, or hashed altogether. */
export type KeyForm = 'plain' | 'hashed'

/**
 * A key as lists show it. `plain` is as the rules make it: API keys, cookies and other secrets are hashed there already.
 * `hashed` also hides users and addresses: 128 bits of HMAC-SHA-256.
 * @param secret keys the hashes: nodes that share it show a key alike. Default: one of this process
 * @example
 * keyShown('hashed')('203.0.113.7') // '%h' and 32 digits
 */
export function keyShown(form: KeyForm = 'plain', secret?: string): (key: string) => string {
  if (form === 'plain') return (key) => key
  const own = secret ?? randomBytes(32)
  return (key) => `%h${createHmac('sha256', own).update(key).digest('hex').slice(0, 32)}`
}
