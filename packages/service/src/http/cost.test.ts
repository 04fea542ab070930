import { ConfigError } from '@sluice/limiter'
import { parsePart } from '@sluice/limiter/rules'
import { readQuestion, WireError } from '@sluice/limiter/wire'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cpuMs } from '../../../limiter/src/cpu.test-support.ts'
import { bench, post, type ServiceBench } from '../testing.ts'

/** Characters of the longest text that a body may hold, and of the longest that is folded. */
const LENGTHS = [16_384, 4_096]
/** Milliseconds that one field may cost at most; ten times as much fails, since test machines are slow. */
const BUDGET_MS = 10
/** Cheaper fields are not looked at twice: time that is so short says little. */
const NOTABLE_MS = 5
/** A sixteenth of the length costs a sixteenth; where the cost is the square of the length, a 256th. */
const SHORTER = 16
const MOST_GROWTH = 100

/** What makes readers slow: each is repeated until the text has its length. */
const HOSTILE = [
  '7 A / . : ; , % " \\ [ * # %41 %c3%a9 /../ a=b; "\\ ::1,',
  'İ ﷺ \ud800 \u{1f600} \u200b \u0323\u0300 \u0344 \u0f73\u0f71 \u{1d160} \uff9e',
].flatMap((texts) => texts.split(' '))
/** With something before or behind, so that no reader ends or begins early. */
const AROUND = [
  ['', ''],
  ['/', ''],
  ['"', 'x'],
] as const

type Field = (value: unknown) => unknown

/** Every part of a key that there is, as the limiter's own message lists them; folded too, where that is allowed. */
const PARTS = listedParts().flatMap((part) => [part, `${part}|fold`].filter(isPart))

function listedParts(): string[] {
  try {
    parsePart('?')
  } catch (error) {
    const [, list = ''] = (error as Error).message.split('; there are ')
    return list
      .split(', ')
      .map((form) => form.replace('NAME', 'x').replace('/N/N', '/24/56').replace('/N', '/24'))
  }
  throw new Error('"?" is no part of a key')
}

function isPart(text: string): boolean {
  try {
    parsePart(text)
    return true
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

/** Every field of a body, by its path: the reader names the fields it knows when it meets one it does not know. */
function fieldsOf(place: Field, path: string): [string, Field][] {
  const names = knownFields(place)
  return names.flatMap((name): [string, Field][] => {
    const field: Field = (value) => place({ ...required(names), [name]: value })
    const items: Field = (value) => field([value])
    if (knownFields(field).length > 0) return fieldsOf(field, `${path}${name}.`)
    if (knownFields(items).length > 0) return fieldsOf(items, `${path}${name}[].`)
    return [[`${path}${name}`, field]]
  })
}

function knownFields(place: Field): readonly string[] {
  try {
    readQuestion(place({ '?': 0 }))
  } catch (error) {
    if (error instanceof WireError) return error.unknown?.known ?? []
    throw error
  }
  return []
}

/** What must stand beside a field, so that it is read. */
function required(names: readonly string[]): object {
  if (names.includes('domain')) return { domain: 'd' }
  if (names.includes('entries')) return { entries: [{ key: 'k', value: 'v' }] }
  if (names.includes('unit')) return { unit: 'hour', requests_per_unit: 1 }
  return names.includes('value') ? { key: 'k', value: 'v' } : {}
}

/** A text as the field itself, under each name that a rule reads, and as names. */
const SHAPES: readonly ((text: string) => unknown)[] = [
  (text) => text,
  ...['x', 'cookie', 'user', 'tenant', 'api-key', 'route', 'param:x'].map((name) => (text: string) => ({
    [name]: text,
  })),
  (text) =>
    Object.fromEntries(
      Array.from({ length: 128 }, (_, i) => [`${i}${text.slice(0, text.length / 128)}`, 'v']),
    ),
]

let service: ServiceBench
beforeAll(async () => {
  const limits = PARTS.map(
    (part, i) => `  - { name: n${i}, key: [${JSON.stringify(part)}], limit: 9/hour }\n`,
  )
  const paths = ['/**/a/**/a/**/b', '/*a*a*b/**', '/:x/**'].map(
    (path, i) =>
      `  - { name: p${i}, key: ["param:x"], when: { path: "${path}", host: "*a*a*b" }, limit: 9/hour }\n`,
  )
  const descriptors =
    '  - { key: k, rate_limit: &r { unit: hour, requests_per_unit: 9 } }\n  - { key: "*a*a*b*", value: "*a*b*", rate_limit: *r }\n'
  service = await bench(`domain: d\nlimits:\n${limits.join('')}${paths.join('')}descriptors:\n${descriptors}`)
})
afterAll(() => service.close())

async function timeOf(body: unknown, runs: number): Promise<number> {
  const text = JSON.stringify(body)
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < runs; i++) {
    const began = cpuMs()
    await post(service.http, '/v1/check', text)
    least = Math.min(least, cpuMs() - began)
  }
  return least
}

function repeated(piece: string, [before, behind]: readonly [string, string], length: number): string {
  const most = length - before.length - behind.length
  return before + piece.repeat(Math.ceil(most / piece.length)).slice(0, most) + behind
}

test('the fields of a question, and the parts of a key, are found', () => {
  const names = fieldsOf((value) => value, '').map(([name]) => name)
  expect(names).toContain('request.attributes')
  expect(names).toContain('descriptors[].entries[].value')
  expect(names).toContain('descriptors[].limit.unit')
  expect(PARTS).toContain('attribute:x|fold')
})

test.each(fieldsOf((value) => value, ''))(
  'OF-43: the dearest value of %s is cheap, and costs in proportion to its length',
  async (name, field) => {
    let dearest = { ms: 0, what: '' }
    for (const [at, shape] of shapesOf(field).entries()) {
      for (const [i, piece] of HOSTILE.entries()) {
        const bodyOf = (length: number): unknown =>
          field(shape(repeated(piece, AROUND[i % AROUND.length]!, length)))
        for (const length of LENGTHS) {
          let ms = await timeOf(bodyOf(length), 1)
          if (ms > NOTABLE_MS) ms = await timeOf(bodyOf(length), 5)
          const what = `${length} of ${JSON.stringify(piece)} in shape ${at}`
          if (ms > dearest.ms) dearest = { ms, what }
          if (ms < NOTABLE_MS) continue
          expect(ms, what).toBeLessThan(10 * BUDGET_MS)
          const short = await timeOf(bodyOf(length / SHORTER), 5)
          expect(ms / Math.max(short, 1), `${what}, by ${SHORTER} times the length`).toBeLessThan(MOST_GROWTH)
        }
      }
    }
    console.info(`${name}: ${dearest.ms.toFixed(1)} ms of ${BUDGET_MS}, for ${dearest.what}`)
  },
)

/** Those that the field takes; for a field that takes no text, the plain text that is refused. */
function shapesOf(field: Field): typeof SHAPES {
  const taken = SHAPES.filter((shape) => {
    try {
      readQuestion(field(shape('second')))
      return true
    } catch {
      return false
    }
  })
  return taken.length > 0 ? taken : SHAPES.slice(0, 1)
}
