/** Segments of a path that a route has. */
const MOST_SEGMENTS = 5
/** Characters of a segment that is a name. */
const LONGEST_NAME = 32
/** Letters and signs, with few digits: `login`, `v2`, `index.html`. */
const NAME = /^[a-z._~-]+(?:\d{1,2}(?:[a-z._~-]+|$)){0,2}$/i
/** A name of letters in both cases and digits is short: a token is not. */
const TOKEN = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{13,}$/
const METHOD = /^[A-Z]{1,16}$/

/**
 * A name for the paths that one place of an application has: `GET /users/:id`. Segments that are no names, such as
 * numbers, tokens and addresses, are `:id`; of more than five segments the rest is `…`. So a client cannot make a route
 * long, and what it sends as an id is not in it.
 * @param path without query, as received; `undefined`: there is no route
 * @example
 * routeOf('GET', '/users/12345/orders') // 'GET /users/:id/orders'
 */
export function routeOf(method: string | undefined, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const segments = path.slice(0, MOST_SEGMENTS * (LONGEST_NAME + 1) * 4).split('/', MOST_SEGMENTS + 2)
  if (segments[0] === '') segments.shift()
  const names = segments.slice(0, MOST_SEGMENTS).map(segmentName)
  const rest = segments.length > MOST_SEGMENTS ? '/…' : ''
  const verb = method !== undefined && METHOD.test(method) ? `${method} ` : ''
  return `${verb}/${names.join('/')}${rest}`
}

function segmentName(segment: string): string {
  const isName = segment.length <= LONGEST_NAME && NAME.test(segment) && !TOKEN.test(segment)
  return segment === '' || isName ? segment : ':id'
}

/** Paths that are remembered, and the longest of them. */
const MOST_PATHS = 512
const LONGEST_PATH = 256

/** {@link routeOf}, which remembers what it made of some paths. */
export function routeReader(): typeof routeOf {
  const known = new Map<string, string>()
  return (method, path) => {
    if (path === undefined || path.length > LONGEST_PATH) return routeOf(method, path)
    const text = method === undefined ? path : `${method} ${path}`
    let route = known.get(text)
    if (route === undefined) {
      route = routeOf(method, path)!
      if (known.size >= MOST_PATHS) known.clear()
      known.set(copyOfText(text), route)
    }
    return route
  }
}

/** A copy: a text that is a part of a longer one would keep all of it. JSON is read into new texts. */
export function copyOfText(text: string): string {
  return JSON.parse(JSON.stringify(text))
}
