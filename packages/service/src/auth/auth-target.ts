import { nearest } from '@sluice/limiter/errors'
import { HttpError } from '../problem.ts'
import { DENY_STATUSES } from './auth-options.ts'

/**
 * What the path of a call to `/auth` says. Settings stand in the path, before the part that is the client's. They are
 * never read from the query: Caddy appends the client's own query to the URL that it was given.
 */
export interface AuthTarget {
  readonly domain?: string
  readonly deny?: 403 | 429
  /** The original path and query, where they stand behind `/auth`; else headers have them. */
  readonly original?: string
}

/** A proxy's part ends at the first `/` or `?`. What a client asks for begins with one of them, or is `*`. */
const AUTH = /^\/auth(?::([^/?*]*))?([/?*].*)?$/s

const SETTINGS = ['domain', 'deny'] as const

/** Whether a path is one of `/auth`, with its settings and with the original path. */
export function isAuthUrl(url: string): boolean {
  return AUTH.test(url)
}

/**
 * Reads `/auth`, `/auth:domain=shop,deny=403`, and either with the original path behind it.
 * @throws HttpError 400 for a setting that there is not, is wrong, or is given twice
 * @example
 * readAuthUrl('/auth:deny=403/login?next=/') // { deny: 403, original: '/login?next=/' }
 */
export function readAuthUrl(url: string): AuthTarget {
  const [, settings = '', rest = ''] = AUTH.exec(url) ?? []
  const found: { domain?: string; deny?: 403 | 429; original?: string } = {}
  for (const setting of settings === '' ? [] : settings.split(',')) {
    const equals = setting.indexOf('=')
    const name = equals < 0 ? setting : setting.slice(0, equals)
    const value = equals < 0 ? '' : decoded(setting.slice(equals + 1))
    if (Object.hasOwn(found, name)) throw new HttpError(400, `${name} is given twice in the path`)
    if (name === 'domain') found.domain = value
    else if (name === 'deny') found.deny = denyOf(value)
    else throw new HttpError(400, unknownSetting(name))
  }
  if (rest !== '' && !rest.startsWith('?')) found.original = rest
  return found
}

function denyOf(value: string): 403 | 429 {
  const status = DENY_STATUSES.find((each) => String(each) === value)
  if (status === undefined) throw new HttpError(400, `deny must be ${DENY_STATUSES.join(' or ')} in the path`)
  return status
}

function unknownSetting(name: string): string {
  const near = nearest(name, SETTINGS)
  const hint = near === undefined ? `; there are ${SETTINGS.join(', ')}` : `; did you mean ${near}?`
  return `there is no setting ${JSON.stringify(name.slice(0, 80))} in the path${hint}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new HttpError(400, 'a setting in the path cannot be decoded')
  }
}
