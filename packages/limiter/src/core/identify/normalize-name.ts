/**
 * One spelling of a name that people type: NFKC, lower case, without invisible characters and outer blanks
 * (after RFC 8265). `É` in one code point or two, `ｅ` in full width: one user.
 */
export function normalizeName(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .trim()
}
