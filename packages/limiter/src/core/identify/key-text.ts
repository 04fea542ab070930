import type { Hash } from './keyed-hash.ts'
import { utf8 } from './utf8.ts'

/** Longest part of a key, in bytes of UTF-8, that is kept as it is. */
const MAX_PART = 128
/** Stands for a part that a request lacks; no escaped value is spelt so. */
export const MISSING = '%-'

const PLAIN_PART = /^[\w.:/@+=,~-]*$/
/** What separates or escapes here, or means something to a store: blanks, control characters, patterns, hash tags. */
const SPECIAL = /[\p{Cc}\p{Cs} %*?[\\\]{|}]/gu

/**
 * One part of a key, spelt so that no two values meet: `a|b` becomes `a%7Cb`. Over 128 bytes it is replaced by its
 * hash (`%h` and 32 digits), which no value is spelt as.
 */
export function keyPart(value: string, hash: Hash): string {
  return isLong(value) ? hashedPart(value, hash) : escaped(value)
}

/** The same for a secret: always its hash. */
export function hashedPart(value: string, hash: Hash): string {
  return `%h${hash(value)}`
}

/** Parts of a key as one text. Parts must be made by {@link keyPart}, {@link hashedPart} or {@link escaped}, or be {@link MISSING}. */
export function joinParts(parts: readonly string[]): string {
  return parts.length === 1 ? parts[0]! : parts.join('|')
}

export function escaped(value: string): string {
  return PLAIN_PART.test(value) ? value : value.replace(SPECIAL, codeOf)
}

function codeOf(char: string): string {
  const hex = char.codePointAt(0)!.toString(16).toUpperCase()
  return hex.length > 2 ? `%u${hex}` : `%${hex.padStart(2, '0')}`
}

function isLong(value: string): boolean {
  return value.length > MAX_PART || (value.length * 3 > MAX_PART && utf8(value).length > MAX_PART)
}
