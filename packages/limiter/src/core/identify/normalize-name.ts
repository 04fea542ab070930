import { inCanonicalOrder } from './canonical-order.ts'

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * One spelling of a name that people type: NFKC, lower case, without invisible characters and outer blanks
 * (after RFC 8265). `É` in one code point or two, `ｅ` in full width: one user. Takes time in proportion to the text.
 */
export function normalizeName(text: string): string {
  const once = composed(text.replace(INVISIBLE, ''))
  const lower = once.toLowerCase()
  return (lower === once ? once : composed(lower)).trim()
}

function composed(text: string): string {
  return inCanonicalOrder(text).normalize('NFKC')
}
