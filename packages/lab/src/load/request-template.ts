/** A request as it is sent. */
export interface SentRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** The address that it comes from. Default: the system chooses. */
  readonly from?: string | undefined
}

/** `{key}` in the URL, in a header or in the body is replaced by each request's key. */
export interface RequestTemplate {
  /** `http://HOST:PORT/PATH?QUERY`. */
  readonly url: string
  /** Default: `GET`, or `POST` with a body. */
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** Each key comes from an address of its own, in 127.0.0.0/8. */
  readonly ownAddresses?: boolean | undefined
}

const KEY = '{key}'

/**
 * Whether requests of different keys differ.
 * @example
 * hasKeys({ url: 'http://127.0.0.1:3000/?user={key}' }) // true
 */
export function hasKeys({ url, headers = {}, body = '', ownAddresses }: RequestTemplate): boolean {
  return ownAddresses === true || [url, body, ...Object.values(headers)].some((text) => text.includes(KEY))
}

/**
 * The origin that a template asks.
 * @example
 * originOf({ url: 'http://127.0.0.1:3000/{key}' }) // 'http://127.0.0.1:3000'
 */
export function originOf({ url }: RequestTemplate): string {
  return new URL(url.replaceAll(KEY, '0')).origin
}

/**
 * What makes the request of a key. In the URL the key is percent-encoded, in a body of JSON its quotes are escaped.
 * @example
 * requestMaker({ url: 'http://127.0.0.1:3000/items?user={key}' })('ada').path // '/items?user=ada'
 */
export function requestMaker(template: RequestTemplate): (key: string) => SentRequest {
  const { url, body, ownAddresses, method = body === undefined ? 'GET' : 'POST' } = template
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2)) // not by URL, which would encode the braces
  const headers = Object.entries({
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...template.headers,
  })
  const addresses = ownAddresses ? new Map<string, string>() : undefined
  return (key) => ({
    method,
    path: path.replaceAll(KEY, encodeURIComponent(key)),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, value.replaceAll(KEY, key)])),
    body: body?.replaceAll(KEY, JSON.stringify(key).slice(1, -1)),
    from: addresses && addressOf(key, addresses),
  })
}

/** Addresses for keys, in the order in which they come: 127.1.0.1, 127.1.0.2 and so on. */
function addressOf(key: string, addresses: Map<string, string>): string {
  let address = addresses.get(key)
  if (address === undefined) {
    const n = addresses.size
    address = `127.${1 + Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${1 + (n % 250)}`
    addresses.set(key, address)
  }
  return address
}
