/** Nothing to do: plain characters, no empty or dot segments, no slash at the end. */
const PLAIN_PATH = /^(?:\/[^/.%?#\\A-Z\u0080-\uffff][^/%?#A-Z\u0080-\uffff]*)+$/
/** A well-formed UTF-8 sequence of two to four bytes, overlong and surrogate forms left to the decoder; an escape; a stray `%`. */
const ESCAPE =
  /%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-4](?:%[89ab][\da-f]){3}|%[\da-f]{2}|%/gi

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
  return text.replace(ESCAPE, decodedEscape)
}

function decodedEscape(written: string): string {
  if (written === '%') return '%25'
  if (written.length > 3) return decodedSequence(written)
  const code = Number.parseInt(written.slice(1), 16)
  return isPrintable(code) ? String.fromCharCode(code) : written.toUpperCase()
}

/** Printable ASCII but for `#`, `%`, `/` and `?`. */
function isPrintable(code: number): boolean {
  return code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x25 && code !== 0x2f && code !== 0x3f
}

function decodedSequence(sequence: string): string {
  try {
    return decodeURIComponent(sequence)
  } catch {
    return sequence.toUpperCase()
  }
}
