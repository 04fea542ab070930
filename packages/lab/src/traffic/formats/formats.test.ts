import { describe, expect, it } from 'vitest'
import { FORMATS, readerFor } from '../formats.ts'
import { readAll, readLine } from '../reading.test-support.ts'

const ALL = Date.UTC(2026, 0, 31, 10, 5, 3) * 1_000

/**
 * Lines of our own in the structure that each format's documentation gives:
 * - Apache: https://httpd.apache.org/docs/2.4/logs.html
 * - nginx: https://nginx.org/en/docs/http/ngx_http_log_module.html (escape=json)
 * - Caddy: https://caddyserver.com/docs/logging
 * - Traefik: https://doc.traefik.io/traefik/observability/access-logs/
 * - Envoy: https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage
 * - HAProxy: https://docs.haproxy.org/3.0/configuration.html#8.2.3
 * - AWS: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html and
 *   https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/AccessLogs.html
 * - IIS: https://learn.microsoft.com/en-us/windows/win32/http/w3c-logging
 */
const LINES: readonly {
  name: string
  format: string
  text: string
  at?: number
  durationMs?: number
  request: object
}[] = [
  {
    name: 'Apache, combined',
    format: 'combined',
    text: '192.0.2.7 - ada [31/Jan/2026:10:05:03 +0000] "GET /search?q=tea HTTP/1.1" 200 2326 "https://shop.example/" "Mozilla/5.0"',
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      path: '/search',
      query: { q: 'tea' },
      headers: { referer: 'https://shop.example/', 'user-agent': 'Mozilla/5.0' },
      attributes: { user: 'ada', status: 200, bytes: 2326 },
    },
  },
  {
    name: 'Traefik, common with its own fields',
    format: 'combined',
    text: '192.0.2.7 - - [31/Jan/2026:10:05:03 +0000] "GET / HTTP/1.1" 200 12 "-" "-" 5 "app@file" "http://127.0.0.1:3000" 2ms',
    request: { ip: '192.0.2.7', method: 'GET', path: '/', attributes: { status: 200, bytes: 12 } },
  },
  {
    name: 'nginx, JSON with its own names',
    format: 'nginx-json',
    text: String.raw`{"time_iso8601":"2026-01-31T11:05:03+01:00","remote_addr":"192.0.2.7","remote_user":"","request":"GET /search?q=\"tea\" HTTP/1.1","status":200,"body_bytes_sent":2326,"request_time":0.250,"http_referer":"","http_user_agent":"curl/8"}`,
    at: ALL - 250_000,
    durationMs: 250,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      path: '/search',
      query: { q: '"tea"' },
      headers: { 'user-agent': 'curl/8' },
      attributes: { status: 200, bytes: 2326 },
    },
  },
  {
    name: 'nginx, JSON with the parts of a request line and msec',
    format: 'nginx-json',
    text: '{"msec":"1769853903.000","remote_addr":"2001:db8::7","request_method":"POST","request_uri":"/login","http_host":"shop.example","status":"401"}',
    request: {
      ip: '2001:db8::7',
      method: 'POST',
      path: '/login',
      host: 'shop.example',
      attributes: { status: 401 },
    },
  },
  {
    name: 'Caddy',
    format: 'caddy',
    text: String.raw`{"level":"info","ts":1769853903.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"10.0.0.1","remote_port":"41342","client_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"/search?q=tea","headers":{"User-Agent":["curl/8"],"Referer":["https://shop.example/\"x\""],"Accept":["*/*"]},"tls":{"resumed":false,"version":772}},"bytes_read":0,"user_id":"","duration":0.5,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}`,
    durationMs: 500,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      host: 'shop.example',
      path: '/search',
      query: { q: 'tea' },
      headers: { referer: 'https://shop.example/"x"', 'user-agent': 'curl/8' },
      attributes: { status: 200, bytes: 10_900 },
    },
  },
  {
    name: 'Traefik, JSON',
    format: 'traefik',
    text: '{"ClientAddr":"192.0.2.7:50114","ClientHost":"192.0.2.7","ClientPort":"50114","ClientUsername":"-","DownstreamContentSize":12,"DownstreamStatus":200,"Duration":2000000,"RequestHost":"shop.example","RequestMethod":"GET","RequestPath":"/search?q=tea","StartLocal":"2026-01-31T11:05:03+01:00","StartUTC":"2026-01-31T10:05:03Z","level":"info","msg":"","request_User-Agent":"curl/8","time":"2026-01-31T10:05:04Z"}',
    durationMs: 2,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      host: 'shop.example',
      path: '/search',
      query: { q: 'tea' },
      headers: { 'user-agent': 'curl/8' },
      attributes: { status: 200, bytes: 12 },
    },
  },
  {
    name: 'Envoy, its default text',
    format: 'envoy',
    text: '[2026-01-31T10:05:03.000Z] "POST /api/v1/locations?a=1 HTTP/2" 204 - 154 7 226 100 "203.0.113.9, 192.0.2.7" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"',
    durationMs: 226,
    request: {
      ip: '192.0.2.7',
      method: 'POST',
      path: '/api/v1/locations',
      query: { a: '1' },
      host: 'locations',
      headers: { 'user-agent': 'nsq2http' },
      attributes: { status: 204, bytes: 7 },
    },
  },
  {
    name: 'Envoy, with the quotes that a client sent',
    format: 'envoy',
    text: String.raw`[2026-01-31T10:05:03.000Z] "GET /a"b\ HTTP/1.1" 200 - 0 7 1 - "192.0.2.7" "a "b" "c\" "id" "shop.example" "-"`,
    durationMs: 1,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      path: '/a"b\\',
      host: 'shop.example',
      headers: { 'user-agent': 'a "b" "c\\' },
      attributes: { status: 200, bytes: 7 },
    },
  },
  {
    name: 'Envoy, JSON',
    format: 'envoy-json',
    text: '{"start_time":"2026-01-31T10:05:03.000Z","method":"GET","path":"/a","protocol":"HTTP/1.1","response_code":200,"response_flags":"-","bytes_received":0,"bytes_sent":7,"duration":12,"upstream_service_time":"11","x_forwarded_for":null,"user_agent":"curl/8","request_id":"a","authority":"shop.example","upstream_host":"10.0.2.1:80","downstream_remote_address":"192.0.2.7:53912"}',
    durationMs: 12,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      path: '/a',
      host: 'shop.example',
      headers: { 'user-agent': 'curl/8' },
      attributes: { status: 200, bytes: 7 },
    },
  },
  {
    name: 'HAProxy, as syslog has it',
    format: 'haproxy',
    text: 'Jan 31 10:05:03 lb haproxy[14389]: 192.0.2.7:33317 [31/Jan/2026:10:05:03.000] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {shop.example|"x} {} "GET /index.html?a=1 HTTP/1.1"',
    durationMs: 109,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      path: '/index.html',
      query: { a: '1' },
      attributes: { status: 200, bytes: 2750 },
    },
  },
  {
    name: 'HAProxy, of a request that was broken off',
    format: 'haproxy',
    text: '::ffff:192.0.2.7:33317 [31/Jan/2026:10:05:03.000] http-in~ http-in/<NOSRV> -1/-1/-1/-1/+5007 408 212 - - cR-- 2/2/0/0/0 0/0 "<BADREQ>"',
    durationMs: 5_007,
    request: { attributes: { status: 408, bytes: 212 } },
  },
  {
    name: 'AWS Application Load Balancer',
    format: 'alb',
    text: 'h2 2026-01-31T10:05:03.100000Z app/my-loadbalancer/50dc6c495c0c9188 192.0.2.7:2817 10.0.0.1:80 0.001 0.098 0.001 200 200 34 366 "GET https://shop.example:443/a?b=1 HTTP/2.0" "curl/8" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "shop.example" "arn:aws:acm:us-east-2:123456789012:certificate/12345678" 0 2026-01-31T10:05:03.000000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"',
    durationMs: 100,
    request: {
      ip: '192.0.2.7',
      method: 'GET',
      host: 'shop.example:443',
      path: '/a',
      query: { b: '1' },
      headers: { 'user-agent': 'curl/8' },
      attributes: { status: 200, bytes: 366 },
    },
  },
]

function readerOf(text: string): ReturnType<typeof readerFor>['reader'] {
  return readerFor([Buffer.from(text)], {}).reader
}

describe.each(LINES)('a line of $name', ({ format, text, at = ALL, durationMs, request }) => {
  const expected = {
    at,
    request: { attributes: {}, ...request },
    ...(durationMs !== undefined && { durationMs }),
  }

  it('is read in the format that it shows, and that may be said', () => {
    const named = readerFor([], { format: format as (typeof FORMATS)[number] }).reader
    const seen = readLine(readerOf(text), text)
    if (format !== 'haproxy' || 'ip' in request) expect(seen).toEqual(expected)
    else expect(seen).toMatchObject(expected)
    expect(readLine(named, text)).toEqual(seen)
  })

  it('is no request when it is cut short anywhere but in what nobody reads', () => {
    const whole = readLine(readerOf(text), text)
    const reader = readerOf(text)
    for (let length = 0; length < text.length; length++) {
      const cut = readLine(reader, text.slice(0, length))
      if (typeof cut === 'string') expect(cut).not.toBe('')
      else expect(cut.at).toBe((whole as { at: number }).at)
    }
    expect(readLine(reader, text.slice(0, 30))).toBeTypeOf('string')
  })

  it('is found among lines that are none', async () => {
    const { entries, unreadable } = await readAll(`# nothing\n\n${text}\nnothing\n${text}\n`)
    expect(entries).toHaveLength(2)
    expect(unreadable.map(({ line }) => line)).toEqual([1, 2, 4])
  })
})

const IIS = `#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2026-01-31 10:05:00
#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken
2026-01-31 10:05:03 10.0.0.1 GET /a+b.aspx q=tea&r=%C3%A9 443 - 192.0.2.7 Mozilla/5.0+(Windows+NT+10.0) https://shop.example/ 200 0 0 250
2026-01-31 10:05:04 10.0.0.1 GET /short
#Fields: date time c-ip cs-method cs-uri-stem sc-status
2026-01-31 10:05:05 2001:db8::7 POST /login 401
`

const CLOUDFRONT = [
  '#Version: 1.0',
  '#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken',
  '2026-01-31\t10:05:03\tLAX1\t2390\t192.0.2.7\tGET\td111111abcdef8.cloudfront.net\t/view/my/file.html\t200\t-\tMozilla/5.0%20(Windows)\t-\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\tshop.example\thttps\t23\t0.250',
].join('\n')

describe('the extended log of W3C', () => {
  it('is read by its columns, which may change', async () => {
    const { entries, unreadable } = await readAll(IIS)
    expect(entries).toEqual([
      {
        at: ALL - 250_000,
        request: {
          ip: '192.0.2.7',
          method: 'GET',
          path: '/a b.aspx',
          query: { q: 'tea', r: 'é' },
          headers: { referer: 'https://shop.example/', 'user-agent': 'Mozilla/5.0 (Windows NT 10.0)' },
          attributes: { status: 200 },
        },
      },
      {
        at: ALL + 2_000_000,
        request: { ip: '2001:db8::7', method: 'POST', path: '/login', attributes: { status: 401 } },
      },
    ])
    expect(unreadable).toEqual([
      { line: 6, reason: expect.stringContaining('fields, where #Fields names 15') },
    ])
  })

  it('of CloudFront has the name that the client asked for', async () => {
    const { entries } = await readAll(CLOUDFRONT)
    expect(entries).toEqual([
      {
        at: ALL - 250_000,
        request: {
          ip: '192.0.2.7',
          method: 'GET',
          host: 'shop.example',
          path: '/view/my/file.html',
          headers: { 'user-agent': 'Mozilla/5.0 (Windows)' },
          attributes: { status: 200, bytes: 2_390 },
        },
      },
    ])
  })

  it('says nothing before its columns are named', async () => {
    expect(await readAll('2026-01-31 10:05:03 192.0.2.7\n', { format: 'w3c' })).toMatchObject({
      entries: [],
      unreadable: [{ line: 1, reason: expect.stringContaining('no line before it names the fields') }],
    })
  })
})

describe('lines of JSON', () => {
  const fields = 'time=ts,ip=client.ip,path=url,method=verb,tenant=org.id,duration-ms=took'

  it('are read by a map of fields, nested or with dots in their names', async () => {
    const lines = [
      {
        ts: '2026-01-31T10:05:03Z',
        client: { ip: '192.0.2.7' },
        url: '/a?b=1',
        verb: 'GET',
        org: { id: 7 },
        took: 12,
      },
      { ts: 1_769_853_904, 'client.ip': '192.0.2.8', org: { name: 'x', id: 'acme' }, more: [{ ts: 1 }, '}'] },
      { ts: 1_769_853_905_250, client: null },
      { ts: 'soon' },
      { client: { ip: '192.0.2.7' } },
    ]
    const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"ts":1\n[1]\n`
    const { entries, unreadable } = await readAll(text, { fields })
    expect(entries).toEqual([
      {
        at: ALL,
        request: {
          ip: '192.0.2.7',
          method: 'GET',
          path: '/a',
          query: { b: '1' },
          attributes: { tenant: '7' },
        },
      },
      { at: ALL + 1_000_000, request: { ip: '192.0.2.8', attributes: { tenant: 'acme' } } },
      { at: ALL + 2_250_000, request: { attributes: {} } },
    ])
    expect(unreadable.map(({ line, reason }) => [line, reason])).toEqual([
      [4, 'its time is none that is known, such as 2026-01-31T10:05:03Z or 1769853903.25'],
      [5, 'it has no time: ts'],
      [6, 'its JSON is cut short or broken'],
      [7, 'it is no JSON object'],
    ])
  })

  it('of unknown names are none until a map says where they have what', async () => {
    const { unreadable } = await readAll('{"when":"2026-01-31T10:05:03Z"}\n')
    expect(unreadable).toEqual([{ line: 1, reason: 'it is JSON' }])
  })

  it.each([
    ['ip=a', 'it must say where the time is'],
    ['time', 'write NAME=PATH'],
  ])('are not read by the map %s', async (wrong, message) => {
    await expect(readAll('{}', { fields: wrong })).rejects.toThrow(message)
  })

  it('made to confuse take no longer than others, and are no crash', async () => {
    const confusing = ['{"a":'.repeat(10_000), `{"a":"${'\\"'.repeat(30_000)}`, `{"ts":${'['.repeat(60_000)}`]
    const { unreadable } = await readAll(confusing.join('\n'), { fields: 'time=ts' })
    expect(unreadable).toHaveLength(3)
  })
})

it('every format has its name', () => {
  const named = new Set([...LINES.map(({ format }) => format), 'common', 'csv', 'record', 'json', 'w3c'])
  expect([...named].sort()).toEqual([...FORMATS].sort())
})
