/** How a path's characters are spelt where a regular expression sees them. */
type Spelling = (char: string) => string

/**
 * A glob of a rule as a regular expression, without anchors, for paths as rules compare them: case apart, any number of
 * slashes. `undefined` where a proxy could not match alike, or not in a time that grows with the path alone.
 */
export function pathPattern(glob: string, spelling: Spelling = plainly): string | undefined {
  const segments = glob.split('/').filter((segment) => segment !== '')
  if (!/^[!-~]*$/.test(glob) || glob.includes('%') || glob.includes('\\')) return undefined
  if (segments.filter((segment) => segment === '**').length > 1) return undefined
  const parts = segments.map((segment) => {
    if (segment === '**') return '(?:/+[^/]+)*'
    if (segment === '*' || segment.startsWith(':')) return '/+[^/]+'
    const pieces = segment.split('*')
    return pieces.length > 3 ? undefined : `/+${pieces.map((piece) => spelt(piece, spelling)).join('[^/]*')}`
  })
  return parts.includes(undefined) ? undefined : `${parts.join('')}/*`
}

/** A host of a rule, in which `*` is any run of characters. `undefined` for what is no name. */
export function hostPattern(host: string): string | undefined {
  if (!/^[\w.*-]+$/.test(host) || host.split('*').length > 3) return undefined
  return host
    .replace(/\.$/, '')
    .split('*')
    .map((piece) => spelt(piece, plainly))
    .join('.*')
}

function spelt(text: string, spelling: Spelling): string {
  return [...text].map(spelling).join('')
}

/** As it stands; a sign stands for itself behind a backslash. */
export function plainly(char: string): string {
  return /\w/.test(char) ? char : `\\${char}`
}

/** As it stands, or as an escape; for expressions that do not tell capitals apart. */
export function orEscaped(char: string): string {
  return `(?:${plainly(char)}|%${char.charCodeAt(0).toString(16)})`
}

/** Text that is compared exactly, and can stand in every configuration. */
export function isPlain(text: string): boolean {
  return /^[ -~]+$/.test(text) && text.trim() === text
}
