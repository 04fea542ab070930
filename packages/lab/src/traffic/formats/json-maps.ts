/** How a JSON log names what a request has: for each field the names that are tried, first to last. */
export interface JsonMap {
  readonly time: readonly string[]
  /** Names of fields (`ip`, `method`, `target`, `request`, `duration` …), else of attributes. A dot goes into an object. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** Microseconds in one unit of `duration`. */
  readonly ticks: number
  /** Whether a line says when the answer was sent; then the request came that much earlier. */
  readonly stampedAtEnd: boolean
  /** Text that only such lines hold: it tells the formats apart. */
  readonly mark: RegExp
}

/** The formats by name; the order is that in which they are tried. */
export const JSON_MAPS: Readonly<Record<'caddy' | 'traefik' | 'envoy-json' | 'nginx-json', JsonMap>> = {
  caddy: {
    time: ['ts'],
    fields: {
      ip: ['request.client_ip', 'request.remote_ip', 'request.remote_addr'],
      method: ['request.method'],
      target: ['request.uri'],
      host: ['request.host'],
      user: ['user_id'],
      status: ['status'],
      bytes: ['size'],
      referer: ['request.headers.Referer'],
      'user-agent': ['request.headers.User-Agent'],
      duration: ['duration'],
    },
    ticks: 1_000_000,
    stampedAtEnd: true,
    mark: /"request":\{[^{]*"uri":/,
  },
  traefik: {
    time: ['StartUTC', 'time'],
    fields: {
      ip: ['ClientHost'],
      method: ['RequestMethod'],
      target: ['RequestPath'],
      host: ['RequestHost'],
      user: ['ClientUsername'],
      status: ['DownstreamStatus'],
      bytes: ['DownstreamContentSize'],
      referer: ['request_Referer'],
      'user-agent': ['request_User-Agent'],
      duration: ['Duration'],
    },
    ticks: 1 / 1_000,
    stampedAtEnd: false,
    mark: /"RequestPath":/,
  },
  'envoy-json': {
    time: ['start_time'],
    fields: {
      forwarded: ['x_forwarded_for'],
      ip: ['downstream_remote_address', 'downstream_direct_remote_address'],
      method: ['method'],
      target: ['path', 'x_envoy_original_path'],
      host: ['authority'],
      status: ['response_code'],
      bytes: ['bytes_sent'],
      referer: ['referer'],
      'user-agent': ['user_agent'],
      duration: ['duration'],
    },
    ticks: 1_000,
    stampedAtEnd: false,
    mark: /"start_time":/,
  },
  'nginx-json': {
    time: ['time_iso8601', 'msec', 'time_local', '@timestamp', 'timestamp', 'time'],
    fields: {
      ip: ['remote_addr', 'remote_ip', 'client_ip', 'client'],
      request: ['request'],
      method: ['request_method', 'method'],
      target: ['request_uri', 'uri', 'path'],
      host: ['http_host', 'host', 'server_name'],
      user: ['remote_user', 'user'],
      status: ['status'],
      bytes: ['body_bytes_sent', 'bytes_sent'],
      referer: ['http_referer', 'http_referrer', 'referer', 'referrer'],
      'user-agent': ['http_user_agent', 'user_agent', 'agent'],
      duration: ['request_time'],
    },
    ticks: 1_000_000,
    stampedAtEnd: true,
    mark: /"(?:remote_addr|remote_ip|client_ip)":/,
  },
}

/**
 * A map of one's own, such as `time=ts,ip=client.ip,path=url`. `duration` is in seconds, `duration-ms` in milliseconds;
 * what is no field of a request is the attribute of its name.
 * @returns a text where it is none
 */
export function jsonMapOf(text: string): JsonMap | string {
  const fields: Record<string, readonly string[]> = {}
  let time: readonly string[] | undefined
  let ticks = 1_000_000
  for (const entry of text.split(',')) {
    const [, name, path] = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(entry) ?? []
    if (name === undefined || path === undefined)
      return `write NAME=PATH, such as time=ts,ip=client.ip, not ${JSON.stringify(entry)}`
    if (name === 'time') time = [path]
    else if (name === 'duration-ms') {
      ticks = 1_000
      fields.duration = [path]
    } else fields[name === 'path' ? 'target' : name] = [path]
  }
  if (time === undefined) return 'it must say where the time is: time=PATH'
  return { time, fields, ticks, stampedAtEnd: false, mark: /^\s*\{/ }
}
