import { checkOptions, func } from '@sluice/limiter/options'
import { type FetchCall, isRequest, repeatableCall } from './repeatable.ts'
import { Retries } from './retries.ts'
import { type RetryOptions, retrySettings } from './retry-options.ts'

/** `fetch`, or what is called as it is. */
export type FetchFunction = FetchOf<RequestInit>

/** The same with more options, such as the `limits` of `outbound`. */
export type FetchOf<Init> = (input: string | URL | Request, init?: Init) => Promise<Response>

/**
 * A `fetch` that sends failed calls again, so that it does no harm: only calls that may be repeated, never before the time
 * that the server asks for, with jitter, and within a budget of retries for each origin. What comes back is the last
 * answer, whatever its status.
 * @throws ConfigError for options that are wrong; the function itself rejects as `fetch` does, and with Throttled where a
 *   call would have to wait too long, or its origin refuses too much
 * @example
 * const fetch = retrying(globalThis.fetch)
 * const response = await fetch('https://api.example.com/items')
 */
export function retrying<Init extends RequestInit = RequestInit>(
  fetch: FetchOf<Init>,
  options: RetryOptions = {},
): FetchOf<Init> {
  checkOptions(fetch, func, 'fetch')
  const settings = retrySettings(options)
  const retries = new Retries(settings)
  return async (input, init) => {
    const origin = originOf(input)
    if (origin === undefined) return fetch(input, init)
    const call = repeatableCall({ input, init }, settings)
    return retries.run({
      origin,
      key: () => (settings.key ?? defaultKey)(call),
      repeatable: call.repeatable,
      signal: init?.signal ?? (isRequest(input) ? input.signal : undefined),
      send: () => fetch(call.input, call.init as Init | undefined),
    })
  }
}

/** Undefined where the address is none: the platform's `fetch` says why. */
function originOf(input: FetchCall['input']): string | undefined {
  const address = isRequest(input) ? input.url : String(input)
  const base = (globalThis as { readonly location?: { readonly href?: string } }).location?.href
  return URL.canParse(address, base) ? new URL(address, base).origin : undefined
}

function defaultKey({ input, init }: FetchCall): string {
  const headers = init?.headers ?? (isRequest(input) ? input.headers : undefined)
  return `${originOf(input)} ${new Headers(headers).get('authorization') ?? ''}`
}
