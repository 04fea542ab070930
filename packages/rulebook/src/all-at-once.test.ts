import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { loadRulebook, loadText, RulebookError } from './index.ts'

/** One mistake of each kind, and what is said of it wherever it stands. `n` tells rules apart. */
const LIMITS: Readonly<Record<string, (n: number) => readonly [rule: string, said: RegExp, times?: number]>> =
  {
    'unknown field': (n) => [`{ name: u${n}, key: [ip], limit: 5/m, bursst: 3 }`, /unknown field "bursst"/],
    'missing field': (n) => [`{ name: m${n}, key: [ip] }`, /"limit" is missing/],
    'missing name': () => ['{ key: [ip], limit: 5/m }', /"name" is missing/],
    'wrong type': (n) => [`{ name: t${n}, key: ip, limit: 5/m }`, /"key" must be a list/],
    'unreadable text': (n) => [`{ name: r${n}, key: [ip], limit: 5/secnd }`, /"secnd" is not a duration/],
    'key part': (n) => [`{ name: k${n}, key: [ipp], limit: 5/m }`, /"ipp" is no part of a key/],
    'out of range': (n) => [`{ name: o${n}, key: [ip], limit: 5/m, burst: 0 }`, /"burst" must be at least 1/],
    'name twice': (n) => [`{ name: d${n}, name: d${n}, key: [ip], limit: 5/m }`, /"name" is defined twice/],
    'key of a map': (n) => [`{ name: y${n}, key: [ip], limit: 5/m, 7: x }`, /a key must be text/],
    'no such anchor': (n) => [`{ name: a${n}, key: [ip], limit: 5/m, when: *none }`, /no anchor &none/],
    'option of another': (n) => [
      `{ name: p${n}, key: [ip], limit: 5/m, algorithm: fixed-window, burst: 9 }`,
      /"burst" is not supported by fixed-window/,
    ],
    contradiction: (n) => [
      `{ name: c${n}, key: [ip], limit: 5/m, on_limit: delay }`,
      /delay is not supported/,
    ],
    'never fits': (n) => [`{ name: f${n}, key: [ip], limit: 5/m, cost: 9 }`, /a cost of 9 never fits into 5/],
    caller: (n) => [`{ name: e${n}, key: [ip], limit: 5/m, exempt: [ada] }`, /"ada" is not an address/],
    'replaces nothing': (n) => [`{ name: z${n}, key: [ip], limit: 5/m, replaces: [none] }`, /named "none"/],
    'replaces itself': (n) => [
      `{ name: s${n}, key: [ip], limit: 5/m, replaces: [s${n}] }`,
      /replaces itself/,
    ],
    'same name': () => ['{ name: same, key: [ip], limit: 5/m }', /named "same" already/],
    'two in one': (n) => [
      `{ name: b${n}, key: [ip], limit: 5/m, algorithm: fixed-window, burst: 9, modee: x, replaces: [none] }`,
      /"modee"|"burst" is not supported|named "none"/,
      3,
    ],
  }
const DESCRIPTORS: typeof LIMITS = {
  'unknown field': (n) => [`{ key: u${n}, valu: x }`, /unknown field "valu"/],
  'missing key': () => ['{ value: x }', /"key" is missing/],
  unit: (n) => [`{ key: w${n}, rate_limit: { unit: secnd, requests_per_unit: 1 } }`, /"secnd" is not a unit/],
  'wrong type': (n) => [
    `{ key: t${n}, rate_limit: { unit: day, requests_per_unit: x } }`,
    /"requests_per_unit" must/,
  ],
  deeper: (n) => [
    `{ key: g${n}, descriptors: [{ key: a, valu: x }, { key: b, rate_limit: { unit: dy } }, { key: c }, { key: c }] }`,
    /"valu"|"dy" is not a unit|"d.g\d+.c" is defined already/,
    3,
  ],
  'no pattern': (n) => [`{ key: q${n}, share_threshold: true }`, /share_threshold needs a value with \*/],
  'never reached': (n) => [
    `{ key: v${n}, descriptors: [{ key: a, value: "b*" }, { key: a, value: "ba*" }] }`,
    /is never reached/,
  ],
  'replaces nothing': (n) => [
    `{ key: z${n}, rate_limit: { unit: day, name: z${n}, replaces: [{ name: none }] } }`,
    /named "none"/,
  ],
}

const all = [
  ...Object.keys(LIMITS).map((kind) => ({ list: 'limits', kind }) as const),
  ...Object.keys(DESCRIPTORS).map((kind) => ({ list: 'descriptors', kind }) as const),
]
type Chosen = (typeof all)[number]

/** A rulebook of these mistakes, a line for each, with the lines that must be reported, and what of them. */
function rulebookOf(chosen: readonly Chosen[]): { text: string; expected: [number, RegExp][] } {
  const lines = ['domain: d']
  const expected: [number, RegExp][] = []
  for (const list of ['limits', 'descriptors'] as const) {
    lines.push(`${list}:`)
    lines.push(list === 'limits' ? '  - { name: same, key: [ip], limit: 5/m }' : '  - { key: fine }')
    chosen.forEach(({ list: own, kind }, n) => {
      if (own !== list) return
      const [rule, said, times = 1] = { limits: LIMITS, descriptors: DESCRIPTORS }[list][kind]!(n)
      lines.push(`  - ${rule}`)
      for (let i = 0; i < times; i++) expected.push([lines.length, said])
    })
  }
  return { text: lines.join('\n'), expected }
}

function problemsIn(load: () => unknown): RulebookError['problems'] {
  try {
    load()
  } catch (error) {
    if (error instanceof RulebookError) return error.problems
    throw error
  }
  return []
}

function expectAll(problems: RulebookError['problems'], expected: readonly [number, RegExp][]): void {
  expect(problems.map(({ line }) => line)).toEqual(expected.map(([line]) => line))
  for (const [i, { message }] of problems.entries()) expect(message).toMatch(expected[i]![1])
}

it('OF-27 mistakes of every kind in one file are told in one round, each once', () => {
  const { text, expected } = rulebookOf(all)
  expectAll(
    problemsIn(() => loadText(text)),
    expected,
  )
})

it('OF-27 so are those of any file', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...all), { maxLength: 6 }), (chosen) => {
      const { text, expected } = rulebookOf(chosen)
      expectAll(
        problemsIn(() => loadText(text)),
        expected,
      )
    }),
    { numRuns: Number(process.env.SLUICE_RUNS ?? 60) },
  )
})

it('OF-27 a file that cannot be taken apart hides no mistake of another, and makes none up', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-rules-'))
  await writeFile(join(folder, 'a.yaml'), 'domain: [')
  await writeFile(join(folder, 'b.yaml'), rulebookOf([{ list: 'limits', kind: 'same name' }]).text)
  await writeFile(
    join(folder, 'c.yaml'),
    'domain: d\nlimits: [{ name: x, key: [ip], limit: 5/m, replaces: [of a.yaml], burst: 0 }]\n',
  )
  const { problems } = (await loadRulebook([folder]).catch((error) => error)) as RulebookError
  await rm(folder, { recursive: true })
  expect(problems.map(({ file, message }) => [file.slice(-6), message])).toEqual([
    ['a.yaml', expect.any(String)],
    ['b.yaml', expect.stringContaining('named "same" already')],
    ['c.yaml', '"burst" must be at least 1, not 0'],
  ])
})
