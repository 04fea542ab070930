import { createHash, timingSafeEqual } from 'node:crypto'
import { type OptionCheck, that } from '@sluice/limiter/options'

/** What a token may be. */
export const tokenCheck: OptionCheck = that('a text of 16 or more visible characters', (value) =>
  /^[!-~]{16,}$/.test(String(value)),
)

/**
 * Whether the header `authorization` brings this token: `Bearer TOKEN`.
 * @example
 * bearerToken('0123456789abcdef')('Bearer 0123456789abcdef') // true
 */
export function bearerToken(token: string): (authorization: string | undefined) => boolean {
  const expected = digestOf(token)
  return (authorization = '') => {
    const [, given] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    // Digests are equally long, so the time to compare them says nothing.
    return given !== undefined && timingSafeEqual(digestOf(given), expected)
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
