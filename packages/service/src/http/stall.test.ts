import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cpuMs } from '../../../limiter/src/cpu.test-support.ts'
import { bench, post, type ServiceBench } from '../testing.ts'

/** Milliseconds that one body may hold others up, on a machine that does nothing else. */
const BUDGET_MS = 50
/** More is too much where it is as often what `JSON.parse` alone takes here and now, for the body that is dearest to it. */
const MOST_PARSES = 8

let service: ServiceBench
beforeAll(async () => {
  service = await bench(
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 9 } }]\n',
  )
})
afterAll(() => service.close())

const BATCH = 4 * 1_024 * 1_024
const ONE = 256 * 1_024

/** A list or object of a size, and of so many of the pieces. */
function filled(size: number, around: readonly [string, string], piece: (i: number) => string): string {
  const pieces: string[] = []
  let left = size - around[0].length - around[1].length
  for (let i = 0; left > 0; i++) {
    const next = piece(i)
    left -= next.length + 1
    if (left >= 0) pieces.push(next)
  }
  return around[0] + pieces.join(',') + around[1]
}

const asList = ['[', ']'] as const
const repeated = (piece: string) => (): string => piece
const descriptor = { entries: [{ key: 'k', value: 'v' }] }
/** 1,000 items, each of as many pieces as an item may have and 4 MiB hold. */
const items = (piece: (i: number) => string): string =>
  filled(BATCH, asList, (i) => filled(BATCH / 1_000 - 1, asList, (j) => piece(i * 10_000 + j)))

const DEAREST = items(repeated('{}'))

/** Milliseconds of this thread's own time. */
function parseMs(): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const before = cpuMs()
    JSON.parse(DEAREST)
    least = Math.min(least, cpuMs() - before)
  }
  return least
}

function expectShort(ms: number): void {
  if (ms > BUDGET_MS) expect(ms).toBeLessThan(Math.max(4 * BUDGET_MS, MOST_PARSES * parseMs()))
}

const BODIES: Readonly<Record<string, () => string>> = {
  'empty lists': () => filled(BATCH, asList, repeated('[]')),
  'empty lists in items': () => items(repeated('[]')),
  'empty objects in items': () => DEAREST,
  'objects of one other name each': () => items((i) => `{"${i.toString(36)}":1}`),
  'one object of many names': () => filled(BATCH, ['{', '}'], (i) => `"${i.toString(36)}":1`),
  'items of a hundred other names each': () =>
    filled(BATCH, asList, (i) => filled(4_000, ['{', '}'], (j) => `"${(i * 1_000 + j).toString(36)}":1`)),
  'items of as many names as may be': () =>
    filled(BATCH, asList, (i) =>
      filled(62_000, ['{', '}'], (j) => `"${(i * 10_000 + j).toString(36).padStart(5, 'a')}":1`),
    ),
  'names of a prototype': () => items(repeated('"__proto__"')),
  'lists in lists': () => '['.repeat(BATCH / 2) + ']'.repeat(BATCH / 2),
  'lists in lists in items': () => items(repeated('[[[[[[[[[[[[]]]]]]]]]]]]')),
  'one text of escapes': () => `["${'\\u0041'.repeat(BATCH / 6 - 2)}"]`,
  'one text of quotes': () => `["${'\\"'.repeat(BATCH / 2 - 4)}"]`,
  'one text of three bytes each': () => `["${'ﷺ'.repeat(BATCH / 3 - 2)}"]`,
  blanks: () => ' '.repeat(BATCH),
  'a thousand questions of 50 descriptors': () =>
    JSON.stringify(
      Array.from({ length: 1_000 }, () => ({
        domain: 'd',
        descriptors: Array.from({ length: 50 }, () => descriptor),
      })),
    ),
}

/** The longest turn of the event loop, in milliseconds of this thread's own time, while something is done. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  let longest = 0
  let before = cpuMs()
  while (!isDone) {
    await setImmediate()
    const now = cpuMs()
    longest = Math.max(longest, now - before)
    before = now
  }
  await done
  return longest
}

async function stallOf(url: string, body: Buffer): Promise<{ ms: number; status: number }> {
  let least = Number.POSITIVE_INFINITY
  let status = 0
  for (let i = 0; i < 3; i++) {
    const asked = post(service.http, url, body)
    least = Math.min(least, await longestTurn(asked))
    status = (await asked).status
  }
  return { ms: least, status }
}

test.each(Object.entries(BODIES))('OF-44: a batch of %s holds nobody up for long', async (name, make) => {
  const body = Buffer.from(make())
  expect(body.length).toBeLessThanOrEqual(BATCH)
  const { ms, status } = await stallOf('/v1/check/batch', body)
  console.info(`${name}: ${ms.toFixed(1)} ms of ${BUDGET_MS}, ${status}`)
  expectShort(ms)
})

test.each(['[]', '"a":1', '{"a":1}', '"__proto__"'])(
  'OF-44: nor does a request of many %s',
  async (piece) => {
    const isName = piece.startsWith('"a"')
    const around = isName ? (['{', '}'] as const) : (['{"x":[', ']}'] as const)
    const body = Buffer.from(filled(ONE, around, (i) => piece.replace('a', i.toString(36))))
    const { ms, status } = await stallOf('/v1/check', body)
    console.info(`${piece}: ${ms.toFixed(1)} ms of ${BUDGET_MS}, ${status}`)
    expect(status).toBe(413)
    expectShort(ms)
  },
)
