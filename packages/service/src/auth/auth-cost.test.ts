import { afterAll, beforeAll, expect, test } from 'vitest'
import { cpuMs } from '../../../limiter/src/cpu.test-support.ts'
import { bench, type ServiceBench } from '../testing.ts'

/** Characters of the longest header, since all headers together are 16 KiB. */
const LENGTH = 16_000
/** A sixteenth of the length costs a sixteenth; where the cost is the square of the length, a 256th. */
const SHORTER = 16
const MOST_GROWTH = 100
/** Milliseconds that one header may cost at most; ten times as much fails, since test machines are slow. */
const BUDGET_MS = 10
/** Cheaper ones are not compared: time that is so short says little. */
const NOTABLE_MS = 5

/** What makes readers slow: each is repeated until the header has its length. Bytes of UTF-8, as Node gives them. */
const HOSTILE = [
  'a',
  '/',
  '%',
  '%41',
  '%c3%a9',
  '/../',
  'a=b&',
  '&',
  '?',
  ',',
  '::1,',
  '1.2.3.4,',
  '"',
  '\\"',
  ':',
  'é',
].map((text) => Buffer.from(text).toString('latin1'))

const RULES = `
domain: d
limits:
  - { name: a, when: { path: "/**/a/**/b", host: "*a*b" }, key: [ip, path, host], limit: 9/hour }
  - { name: b, key: [method, "query:a", "header:x"], limit: 9/hour }
`

let service: ServiceBench
beforeAll(async () => {
  service = await bench(RULES, { auth: { trusted: ['127.0.0.1', '1.2.3.4', '::1'] } })
})
afterAll(() => service.close())

const QUESTION = {
  'x-forwarded-uri': '/?a=b',
  'x-forwarded-host': 'a.b',
  'x-forwarded-for': '192.0.2.1',
  x: 'x',
}

const PLACES: Readonly<Record<string, (text: string) => { url?: string; headers: Record<string, string> }>> =
  {
    ...Object.fromEntries(
      [
        'x-forwarded-method',
        'x-forwarded-uri',
        'x-original-url',
        'x-forwarded-host',
        'x-forwarded-for',
        'x',
      ].map((name) => [name, (text: string) => ({ headers: { ...QUESTION, [name]: text } })]),
    ),
    'the query of X-Forwarded-Uri': (text) => ({ headers: { ...QUESTION, 'x-forwarded-uri': `/?${text}` } }),
    'the path behind /auth': (text) => ({ url: `/auth/${text}`, headers: QUESTION }),
    settings: (text) => ({ url: `/auth:domain=${text.replaceAll(/[/?]/g, '=')}`, headers: QUESTION }),
  }

async function costOf(
  place: (typeof PLACES)[string],
  piece: string,
  length: number,
  runs: number,
): Promise<number> {
  const { url = '/auth', headers } = place(piece.repeat(Math.ceil(length / piece.length)).slice(0, length))
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < runs; i++) {
    const began = cpuMs()
    const { statusCode } = await service.http.inject({ url, headers })
    least = Math.min(least, cpuMs() - began)
    expect([200, 400, 404, 429]).toContain(statusCode)
  }
  return least
}

test.each(Object.entries(PLACES))(
  'the dearest text in %s is cheap, and costs in proportion to its length',
  async (_, place) => {
    for (const piece of HOSTILE) {
      let ms = await costOf(place, piece, LENGTH, 1)
      if (ms > NOTABLE_MS) ms = await costOf(place, piece, LENGTH, 5)
      expect(ms, piece).toBeLessThan(10 * BUDGET_MS)
      if (ms <= NOTABLE_MS) continue
      const short = await costOf(place, piece, LENGTH / SHORTER, 5)
      expect(ms / Math.max(short, 1), piece).toBeLessThan(MOST_GROWTH)
    }
  },
)
