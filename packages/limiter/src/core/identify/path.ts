/** Nothing to do: plain characters, no empty or dot segments, no slash at the end. */
const PLAIN_PATH = /^(?:\/[^/.%?#\\A-Z\u0080-\uffff][^/%?#A-Z\u0080-\uffff]*)+$/
const STRAY = /%(?![\da-f]{2})/gi
const ASCII = /%([0-7][\da-f])/gi
/** One well-formed UTF-8 sequence of two to four bytes, overlong and surrogate forms left to the decoder. */
const UTF8 = /%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-4](?:%[89ab][\da-f]){3}/gi

/**
 * One spelling of a path, for matching and for keys. `/a//b/`, `/a/./b`, `/%61/b` and `/A/b` are all `/a/b`:
 * empty and dot segments go, escapes of printable characters are decoded (but never `/`, `?`, `#`, `%` or
 * blanks, so `%2F` parts no segments), a trailing slash and the query go, and case is folded.
 * @param fold false keeps case, for applications whose routes differ in nothing else
 */
export function normalPath(path: string, fold = true): string {
  if (PLAIN_PATH.test(path)) return path
  const kept: string[] = []
  for (const segment of decodedPath(path.replace(/[?#].*$/s, '')).split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const normal = `/${kept.join('/')}`
  return fold ? normal.toLowerCase() : normal
}

/** Escapes that only spell a character are decoded; the others are written one way. */
export function decodedPath(text: string): string {
  if (!text.includes('%')) return text
  return text
    .replace(STRAY, '%25')
    .replace(ASCII, decodedAscii)
    .replace(UTF8, decodedSequence)
    .replace(/%[\da-f]{2}/gi, (code) => code.toUpperCase())
}

function decodedAscii(code: string, hex: string): string {
  const char = String.fromCharCode(Number.parseInt(hex, 16))
  return /[!-~]/.test(char) && !/[/?#%]/.test(char) ? char : code
}

function decodedSequence(sequence: string): string {
  try {
    return decodeURIComponent(sequence)
  } catch {
    return sequence
  }
}
