import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../limiter/src/cpu.test-support.ts'
import { readLine } from '../reading.test-support.ts'
import { accessLogReader } from './access-log.ts'

function readAccessLog(text: string, format: 'common' | 'combined' | 'either'): ReturnType<typeof readLine> {
  return readLine(accessLogReader(format), text)
}

const LINE =
  '192.0.2.1 - ada [17/May/2015:10:05:03 +0000] "GET /search?q=tea&q2=%2B HTTP/1.1" 200 512 "https://a.example/" "curl/8"'

/** Microseconds of the line's time. */
const AT = Date.UTC(2015, 4, 17, 10, 5, 3) * 1_000

function at(stamp: string): unknown {
  const parsed = readAccessLog(LINE.replace('17/May/2015:10:05:03 +0000', stamp), 'either')
  return typeof parsed === 'string' ? parsed : parsed.at
}

function request(line: string): unknown {
  const parsed = readAccessLog(
    LINE.replace(/"GET .*?"/, () => `"${line}"`),
    'either',
  )
  return typeof parsed === 'string' ? parsed : parsed.request
}

describe('a line of an access log', () => {
  it('is a request at its own time', () => {
    expect(readAccessLog(LINE, 'either')).toEqual({
      at: AT,
      request: {
        ip: '192.0.2.1',
        method: 'GET',
        path: '/search',
        query: { q: 'tea', q2: '+' },
        headers: { referer: 'https://a.example/', 'user-agent': 'curl/8' },
        attributes: { user: 'ada', status: 200, bytes: 512 },
      },
    })
  })

  it('may be of the common format, with nothing known of the client', () => {
    const line = '2001:db8::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 304 -'
    expect(readAccessLog(line, 'either')).toEqual({
      at: AT,
      request: {
        ip: '2001:db8::1',
        method: 'GET',
        path: '/',
        attributes: { status: 304, bytes: 0 },
      },
    })
  })

  it.each([
    ['17/May/2015:06:05:03 -0400', AT],
    ['17/May/2015:15:35:03 +0530', AT],
    ['17/May/2015:10:05:03.25 +0000', AT + 250_000],
    ['29/Feb/2024:00:00:00 +0000', Date.UTC(2024, 1, 29) * 1_000],
    ['31/Dec/2016:23:59:60 +0000', Date.UTC(2017, 0, 1) * 1_000],
    ['29/Feb/2023:00:00:00 +0000', 'no such time: 29/Feb/2023:00:00:00 +0000'],
    ['17/Mai/2015:10:05:03 +0000', 'no such time: 17/Mai/2015:10:05:03 +0000'],
    ['17/May/2015:24:05:03 +0000', 'no such time: 17/May/2015:24:05:03 +0000'],
    ['17/May/2015:10:05:03 +9900', 'no such time: 17/May/2015:10:05:03 +9900'],
    ['31/Dec/1969:23:59:59 +0000', 'no such time: 31/Dec/1969:23:59:59 +0000'],
    ['17 May 2015', 'there is no time such as [17/May/2015:10:05:03 +0000]'],
  ])('stands at %s', (stamp, expected) => {
    expect(at(stamp)).toBe(expected)
  })

  it.each([
    ['GET http://shop.example/a?b=1 HTTP/1.1', { host: 'shop.example', path: '/a', query: { b: '1' } }],
    ['GET /a b HTTP/1.1', { path: '/a b' }],
    ['GET /a', { path: '/a' }],
    ['OPTIONS * HTTP/1.1', { method: 'OPTIONS', path: '*' }],
    ['GET /?__proto__=x HTTP/1.1', { path: '/' }],
    [String.raw`GET /\xd0\xb6\"\\ HTTP/1.1`, { path: '/ж"\\' }],
    [String.raw`\x16\x03\x01`, {}],
    ['-', {}],
  ])('asks for %s', (line, expected) => {
    expect(request(line)).toMatchObject(expected)
  })

  it('keeps a name such as __proto__ as a name', () => {
    const parsed = request('GET /?__proto__=x HTTP/1.1') as { query: object }
    expect(Object.entries(parsed.query)).toEqual([['__proto__', 'x']])
  })

  it('that is not HTTP is a request all the same, of nothing', () => {
    expect(request('-')).not.toHaveProperty('method')
    expect(request('-')).not.toHaveProperty('path')
  })

  it('is not read when a quote stays open, rather than taken for a shorter format', () => {
    expect(readAccessLog(LINE.slice(0, -1), 'either')).toBe(
      'the line is cut short or its quotes do not match',
    )
  })

  it('is read up to its size where only the common fields count', () => {
    expect(readAccessLog(LINE.slice(0, -1), 'common')).toMatchObject({ at: AT })
  })

  it('must have all its fields where combined is asked for', () => {
    expect(readAccessLog(LINE, 'combined')).toMatchObject({ at: AT })
    expect(readAccessLog(`${LINE} "10.0.0.1" 0.003`, 'combined')).toMatchObject({ at: AT })
    expect(readAccessLog(LINE.replace(/ "https.*/, ''), 'combined')).toBeTypeOf('string')
  })

  it('made to confuse takes no longer than another', () => {
    const confusing = [
      `1 - ${' ['.repeat(30_000)}`,
      `1 - a ${'[17/May/2015:10:05:03 +0000] "\\"'.repeat(2_000)}`,
      `1 - a [17/May/2015:10:05:03 +0000] "${'\\"'.repeat(30_000)}`,
      `1 - - [17/May/2015:10:05:03 +0000] "GET ${' '.repeat(60_000)}" 200 1`,
    ]
    const before = cpuMs()
    for (const line of confusing) readAccessLog(line, 'either')
    expect(cpuMs() - before).toBeLessThan(1_000) // a few; in proportion to the square of the length, many seconds
  })
})
