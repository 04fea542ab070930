import { ConfigError } from '../errors.ts'
import { decodedPath, normalPath } from '../identify/path.ts'
import { wildcard } from './wildcard.ts'

/** A path with gaps: `/users/:id/**`. */
export interface Glob {
  readonly text: string
  readonly segments: readonly Segment[]
}

type Segment =
  /** `**`: any number of segments, none included. */
  | { readonly kind: 'any' }
  /** `*` or `:name`: one segment. */
  | { readonly kind: 'one'; readonly name?: string }
  /** A segment with a `*` among other characters. */
  | { readonly kind: 'like'; readonly text: string; readonly matches: (segment: string) => boolean }
  | { readonly kind: 'literal'; readonly text: string }

/**
 * Reads the path of a rule.
 * @param foldPaths whether upper and lower case are the same
 * @throws ConfigError unless it is a path whose gaps are `*`, `**` and `:name`
 * @example
 * parseGlob('/users/:id/**').segments.map(({ kind }) => kind) // ['literal', 'one', 'any']
 */
export function parseGlob(text: string, foldPaths = true): Glob {
  const fail = (why: string): never => {
    throw new ConfigError(`path ${JSON.stringify(text.slice(0, 80))} ${why}`)
  }
  if (!text.startsWith('/')) fail('must begin with /')
  if (/[?#]/.test(text)) fail('must hold no query')
  const written = text.split('/').filter((segment) => segment !== '')
  const names = written.filter((segment) => segment.startsWith(':'))
  if (new Set(names).size < names.length) fail('names one parameter twice')
  return { text, segments: written.map((segment) => parseSegment(segment, foldPaths, fail)) }
}

function parseSegment(segment: string, foldPaths: boolean, fail: (why: string) => never): Segment {
  if (segment === '**') return { kind: 'any' }
  if (segment === '*') return { kind: 'one' }
  if (segment === '.' || segment === '..') return fail('must hold no . or .. segments')
  if (segment.startsWith(':')) {
    const name = segment.slice(1)
    return /^[\w-]+$/.test(name)
      ? { kind: 'one', name }
      : fail(`has a parameter named ${JSON.stringify(name)}`)
  }
  if (segment.includes('**')) return fail('has ** within a segment: it stands for whole segments')
  const text = foldPaths ? decodedPath(segment).toLowerCase() : decodedPath(segment)
  return segment.includes('*') ? { kind: 'like', text, matches: wildcard(text) } : { kind: 'literal', text }
}

/**
 * Whether a path, cut into segments, fits. Takes at most (segments of the glob) · (segments of the path) steps:
 * on a misfit only the last `**` takes one segment more.
 * @param params receives what each `:name` stands for
 */
export function fits({ segments }: Glob, path: readonly string[], params?: Map<string, string>): boolean {
  let g = 0
  let p = 0
  let retryG = -1
  let retryP = 0
  while (p < path.length || g < segments.length) {
    const segment = segments[g]
    if (segment?.kind === 'any') {
      retryG = g++
      retryP = p
    } else if (segment !== undefined && p < path.length && fitsOne(segment, path[p]!)) {
      if (params !== undefined && segment.kind === 'one' && segment.name !== undefined)
        params.set(segment.name, path[p]!)
      g++
      p++
    } else {
      if (retryG < 0 || retryP >= path.length) return false
      g = retryG + 1
      p = ++retryP
    }
  }
  return true
}

/**
 * Whether a path as it was sent fits, in canonical form and without its case.
 * @throws ConfigError for text that is no glob
 * @example
 * pathMatcher('/v1/**')('/v1/chat') // true
 */
export function pathMatcher(text: string): (path: string) => boolean {
  const glob = parseGlob(text)
  return (path) => {
    const normal = normalPath(path, true)
    return fits(glob, normal === '/' ? [] : normal.slice(1).split('/'))
  }
}

function fitsOne(segment: Segment, text: string): boolean {
  switch (segment.kind) {
    case 'literal':
      return segment.text === text
    case 'like':
      return segment.matches(text)
    default:
      return true
  }
}
