import { ConfigError } from '@sluice/limiter/errors'
import { type OptionFields, textCheck, under, wholeFrom } from '@sluice/limiter/options'
import { LOOPBACK } from '@sluice/observe/parts'

/** Where offenders are posted to, and how often. */
export interface WebhookOptions {
  /** `https:` URL, or `http:` on this machine. */
  readonly url: string
  /** Sent as `authorization: Bearer SECRET`. Default: nothing. */
  readonly secret?: string
  /** Milliseconds between two posts, 1,000 to 86,400,000. Default 60,000. */
  readonly everyMs?: number
  /** Offenders in one post, 1 to 1,000; others are in the next. Default 100. */
  readonly most?: number
  /** Milliseconds in which the receiver must have answered, 1 to 60,000. Default 10,000. */
  readonly timeoutMs?: number
}

/** What the options may be. */
export const webhookFields: OptionFields<WebhookOptions> = {
  url: (value, path) => {
    if (typeof value !== 'string') return ['a URL']
    under([...path], () => webhookUrl(value))
    return undefined
  },
  secret: textCheck,
  everyMs: wholeFrom(1_000, 86_400_000),
  most: wholeFrom(1, 1_000),
  timeoutMs: wholeFrom(1, 60_000),
}

/** @throws ConfigError for a URL that would send keys or the secret to others in clear text */
export function webhookUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && LOOPBACK.test(host)))
    throw new ConfigError('must be an https: URL, or an http: URL of this machine')
  if (url.username !== '' || url.password !== '')
    throw new ConfigError('must have no user and password: the secret is a setting of its own')
  return url
}
