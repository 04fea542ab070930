import { expect, test } from 'vitest'
import { limit } from '../../core/match/limit.samples.ts'
import { cpuMs } from '../../cpu.test-support.ts'
import { compile } from '../../rules.ts'
import { rateLimit } from '../fetch.ts'

/** Characters of all headers of a request, or of its target: what Node takes at most. */
const LONGEST = 16_384
/** Milliseconds that one header may cost; ten times as much fails, since test machines are slow. */
const BUDGET_MS = 10
/** Cheaper headers are not looked at twice: time that is so short says little. */
const NOTABLE_MS = 2
const SHORTER = 16
const MOST_GROWTH = 100

/** Each repeated until the text has its length: what makes readers of addresses, lists, cookies and paths slow. */
const HOSTILE = [
  '7',
  'a',
  ' ',
  ',',
  '\t',
  '"',
  '\\',
  ';',
  '=',
  '%41',
  '%',
  'a=b; ',
  'x=1;',
  '::1,',
  '1.2.3.4, ',
]
HOSTILE.push('for="[::1]";', 'for=1.2.3.4, ', '/../', '/', '[', '&x=1', '+', '\u00e9', 'İﷺ')

const KEYS = [
  'ip',
  'header:x',
  'header:x|fold',
  'header:authorization',
  'cookie:x',
  'query:x',
  'query:x|fold',
  'path',
  'host',
]
const rules = compile([
  { name: 'd', descriptors: [], limits: KEYS.map((part, i) => limit({ name: `n${i}`, key: [part] })) },
])

const PLACES = [
  'x',
  'authorization',
  'cookie',
  'x-forwarded-for',
  'forwarded',
  'host',
  'path',
  'query',
] as const

function requestWith(place: (typeof PLACES)[number], text: string): Request {
  const url = new URL('http://example.com/')
  if (place === 'path') url.pathname = text
  if (place === 'query') url.search = `x=${text}`
  const headers = new Headers()
  // Bytes above 127 reach a server as characters of one byte each.
  if (place !== 'path' && place !== 'query') headers.set(place, text.replace(/[^\x20-\xff]/g, '\u00fd'))
  return new Request(url, { headers })
}

test.each(PLACES)('OF-43: the dearest %s that an adapter reads is cheap', async (place) => {
  const enter = (['x-forwarded-for', 'forwarded'] as const).map((proxyHeader) =>
    rateLimit({ rules, domain: 'd', address: () => '10.0.0.1', trustProxy: ['10.0.0.0/8'], proxyHeader }),
  )
  const timeOf = async (text: string, runs: number): Promise<number> => {
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < runs; i++) {
      const requests = enter.map(() => requestWith(place, text))
      const began = cpuMs()
      for (const [i, request] of requests.entries()) await enter[i]!(request)
      least = Math.min(least, cpuMs() - began)
    }
    return least
  }
  let dearest = { ms: 0, what: '' }
  for (const piece of HOSTILE) {
    const textOf = (length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
    let ms = await timeOf(textOf(LONGEST), 1)
    if (ms > NOTABLE_MS) ms = await timeOf(textOf(LONGEST), 5)
    if (ms > dearest.ms) dearest = { ms, what: JSON.stringify(piece) }
    if (ms < NOTABLE_MS) continue
    expect(ms, piece).toBeLessThan(10 * BUDGET_MS)
    const short = await timeOf(textOf(LONGEST / SHORTER), 5)
    expect(ms / Math.max(short, 1), piece).toBeLessThan(MOST_GROWTH)
  }
  console.info(`${place}: ${dearest.ms.toFixed(1)} ms of ${BUDGET_MS}, for ${dearest.what}`)
})
