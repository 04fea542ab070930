import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyTree } from './parse.ts'
import { plainTree } from './plain.ts'

const runs = Number(process.env.SLUICE_RUNS ?? 300)
const folder = new URL('../../fixtures/valid/', import.meta.url)
const fixtures = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))

/** Read alike, or not at all by the fast reader. */
function expectSame(text: string): void {
  const plain = plainTree(text)
  if (plain === undefined) return
  const problems: string[] = []
  const report = (offset: number, message: string): void => void problems.push(`${offset}: ${message}`)
  const refuse = (): void => {
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }
  let whole: unknown
  try {
    whole = anyTree(text, report, refuse)
  } catch (error) {
    whole = error
  }
  expect({ problems, tree: plain }, JSON.stringify(text)).toEqual({ problems: [], tree: whole })
}

const blank = fc.constantFrom('', ' ', '  ', '\n', '\n  ', ' # c\n', '\r\n', '\t', '    ')
const words = [
  'a',
  'b',
  'key',
  'on',
  'yes',
  'no',
  'Null',
  '~',
  'null',
  'true',
  'False',
  'TRUE',
  '0',
  '-0',
  '+1',
  '010',
  '0o17',
  '0x1F',
  '0b1',
  '1_000',
  '1e3',
  '1.',
  '.5',
  '-.5',
  '+.5e-3',
  '.inf',
  '-.INF',
  '.nan',
  '.NaN',
  '12:30',
  '1:20:30',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  '12345678901234567890',
  '9007199254740993',
  '1e999',
  '<<',
  '=',
  '__proto__',
  'constructor',
  'a b',
  'a  b',
  'a#b',
  'a #b',
  'a:b',
  'a: b',
  ':a',
  '::',
  '-a',
  '- a',
  '?a',
  '? a',
  '--',
  '---',
  '...',
  '!a',
  '!!str 1',
  '!!int x',
  '&a',
  '&a b',
  '*a',
  '%a',
  '@a',
  '`a',
  '|',
  '>',
  '|-\n  x',
  '>\n  x\n  y',
  "'q'",
  "'it''s'",
  '"q"',
  '"\\n"',
  '"\\u0041"',
  '"\\x41\\/"',
  '"a\\\n  b"',
  "'a\n  b'",
  '"a\n\n  b"',
  'a\n  b',
  '""',
  "''",
  '"',
  "'",
  '{}',
  '[]',
  '{',
  '}',
  '[',
  ']',
  ',',
  'ä',
  '😀',
  '\uFEFF',
  '\u0085',
  '\u2028',
  '\u00a0',
  '\u0007',
  '\u007f',
  '\ud800',
  '"a"b',
  '"a" b',
  '[a]b',
  '{a}',
  '{a: 1}',
  '{a: }',
  '{a:}',
  '{"a":1}',
  '{a:1}',
  '[a: 1]',
  '[a, , b]',
  '[a,]',
  '{a,}',
  '[? a]',
  '{? a: b}',
  '[\n]',
  '/api/**',
  '100/minute',
  'header:x-a',
  '%YAML 1.1\n---',
  '--- a',
  '--- \n',
  '# c',
  '\\',
]
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...words) },
  fc.constantFrom(
    ': ',
    ':',
    '- ',
    '-',
    '? ',
    ',',
    ', ',
    '\n',
    '\n\n',
    '{ ',
    ' }',
    '[',
    ']',
    ' #',
    '#',
    '&x ',
    '*x',
    '!t ',
  ),
  blank,
)
/** Pieces of YAML in any order. */
const heap = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

const scalar = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      'a',
      'b',
      'c d',
      "'q'",
      '"r"',
      '1',
      '-1',
      '0.5',
      '/api/**',
      '100/minute',
      'true',
      '10.0.0.0/8',
    ),
  },
  fc.constantFrom(...words),
  fc.string({ maxLength: 6, unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 6 }).map((text) => `'${text.replaceAll("'", "''")}'`),
  fc.string({ maxLength: 6 }),
)
/** Values in each other, written in one of the ways there are, now and then with a slip. */
const { block } = fc.letrec<{ flow: string; block: readonly string[] }>((tie) => ({
  flow: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc
      .tuple(blank, fc.array(fc.tuple(tie('flow'), blank)), blank)
      .map(([before, items, after]) => `[${before}${items.map((item) => item.join('')).join(', ')}${after}]`),
    fc
      .tuple(blank, fc.array(fc.tuple(scalar, fc.constantFrom(': ', ':', ' : '), tie('flow'), blank)), blank)
      .map(([before, items, after]) => `{${before}${items.map((item) => item.join('')).join(',')}${after}}`),
  ),
  block: fc.oneof(
    { maxDepth: 3 },
    tie('flow').map((text) => [text]),
    fc
      .array(tie('block'), { minLength: 1, maxLength: 4 })
      .map((items) =>
        items.flatMap((lines) => lines.map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`))),
      ),
    fc
      .array(fc.tuple(scalar, fc.constantFrom('', ' ', '  # c'), fc.constantFrom(0, 1, 2, 3), tie('block')), {
        minLength: 1,
        maxLength: 4,
      })
      .map((entries) =>
        entries.flatMap(([key, after, indent, lines]) =>
          lines.length === 1 && indent === 0
            ? [`${key}: ${lines[0]}`]
            : [`${key}:${after}`, ...lines.map((line) => `${' '.repeat(indent)}${line}`)],
        ),
      ),
  ),
}))
const documents = fc
  .tuple(
    fc.constantFrom('', '', '', '\uFEFF', '---\n', '# c\n', '\n'),
    block,
    fc.constantFrom('\n', '\n', '\r\n', ''),
    fc.constantFrom('', '', '\n...\n', '\n---\n', '\n# c'),
  )
  .map(([before, lines, end, after]) => before + lines.join(end === '' ? '\n' : end) + end + after)

/** A rulebook with some of it cut out, and pieces put in. */
const mangled = fc
  .tuple(
    fc.constantFrom(...fixtures),
    fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(8), heap), { maxLength: 3 }),
  )
  .map(([text, cuts]) =>
    cuts.reduce((kept, [where, length, put]) => {
      const at = Math.floor(where * kept.length)
      return kept.slice(0, at) + put + kept.slice(at + length)
    }, text),
  )

describe('the fast reader reads as the whole one does, or leaves it to that', () => {
  it.each([
    ['heaps', heap],
    ['documents', documents],
    ['mangled rulebooks', mangled],
  ])('%s', (_, texts) => {
    fc.assert(fc.property(texts, expectSame), { numRuns: runs })
  })

  it.each(fixtures)('fixture %#', (text) => {
    expectSame(text)
  })

  it.each(fixtures.filter((text) => !/[&*!|>]\S|[|>]$/m.test(text)))(
    'fixture %# is read by the fast one',
    (text) => {
      expect(plainTree(text)).toBeDefined()
    },
  )
})

describe('what the fast reader takes is read as the whole one reads it', () => {
  it.each([
    ['words that are no booleans', 'a: yes\nb: no\nc: on\nd: off\ne: y\n'],
    ['booleans and nulls', 'a: True\nb: FALSE\nc: Null\nd: ~\ne:\n'],
    ['digits with signs in them', 'a: 1_000\nb: 0b1\nc: 1:20:30\nd: 1,000\n'],
    ['dates', 'a: 2026-01-01\nb: 2026-01-01T00:00:00Z\n'],
    ['plain numbers', 'a: 0\nb: -0\nc: -1.50\nd: 12345678901234567890\ne: 9007199254740993\n'],
    ['a very long number', `a: ${'9'.repeat(400)}\n`],
    ['CRLF', 'a: 1\r\nb:\r\n  - c\r\n  - "d\r\n    e"\r\n'],
    ['a long line', `a: ${'x'.repeat(100_000)}\nb: "${'y z '.repeat(50_000)}"\n`],
    [
      'quoted scalars of several lines',
      "a: \"b\n  c\n\n  d\\\n  e\\n\\x41\\u00e4\\U0001F600\"\nb: 'c\n  it''s\n\n  d'\n",
    ],
    ['plain scalars of several lines', 'a: b\n  c\n\n  d\ne: f\n'],
    ['signs within words', "a: b#c\nd: e:f # g\n'#': '# h'\ni: j\\n\n"],
    ['flow collections', 'a: {b: 1, "c": [d, \'e\', {}]}\ng: [\n  1, # one\n  2,\n  ]\n'],
    ['an explicit key', '? a\n: b\n'],
    ['keys that look like numbers, in quotes', '"1": a\n\'null\': b\n"": c\n'],
    ['names that all objects have', 'constructor: 1\ntoString: 2\nhasOwnProperty: 3\n'],
    ['a document that says where it begins', '# a\n---\n# b\na: 1\n'],
    ['a scalar alone', 'a b\n'],
    ['no line end at the end', 'a: 1\nb: c'],
    ['lists below their key without an indent', 'a:\n- b\n-\n  - c\n- - d\n  - e\n'],
    ['nested 40 deep', `${'['.repeat(38)}${']'.repeat(38)}`],
  ])('%s', (_, text) => {
    expect(plainTree(text)).toBeDefined()
    expectSame(text)
  })

  it.each([
    ['anchors and aliases', 'a: &x 1\nb: *x\n'],
    ['an alias of nothing', 'a: *x\n'],
    ['merges', 'a: {<<: {b: 1}}\n'],
    ['tags', 'a: !!str 1\n'],
    ['tags of our own', 'a: !x {b: 1}\n'],
    ['numbers that versions of YAML read otherwise', 'a: 0o17\n'],
    ['hexadecimal', 'a: 0x1F\n'],
    ['zeros in front', 'a: 010\n'],
    ['exponents', 'a: 1e3\n'],
    ['infinity', 'a: -.inf\n'],
    ['no number', 'a: .NaN\n'],
    ['a key twice', 'a: 1\nb: 2\na: 3\n'],
    ['a key twice, quoted once', 'a: 1\n"a": 2\n'],
    ['a number as key', '1: a\n'],
    ['null as key', '~: a\n'],
    ['nothing as key', ': a\n'],
    ['a boolean as key', 'true: a\n'],
    ['a list as key', '[a]: b\n'],
    ['__proto__', 'a: {__proto__: 1}\n'],
    ['"__proto__" in quotes', '"__proto__": 1\n'],
    ['nothing', ''],
    ['comments alone', '# a\n'],
    ['an empty document', '---\n'],
    ['two documents', 'a: 1\n---\nb: 2\n'],
    ['the end of a document', 'a: 1\n...\n'],
    ['a directive', '%YAML 1.1\n---\na: yes\n'],
    ['a byte order mark', '\uFEFFa: 1\n'],
    ['a tab as indent', 'a:\n\tb: 1\n'],
    ['a tab between', 'a:\tb\n'],
    ['line ends of old Macs', 'a: 1\rb: 2\r'],
    ['literal blocks', 'a: |\n  b\n  c\n'],
    ['folded blocks', 'a: >-\n  b\n  c\n'],
    ['nested 50 deep', `${'['.repeat(50)}${']'.repeat(50)}`],
    ['nested 20,000 deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['an open quote', 'a: "b\n'],
    ['an open bracket', 'a: [b\n'],
    ['a wrong indent', 'a:\n    b: 1\n  c: 2\n'],
    ['an escape that there is none', 'a: "\\q"\n'],
  ])('%s: left to the whole one', (_, text) => {
    expect(plainTree(text)).toBeUndefined()
  })
})
