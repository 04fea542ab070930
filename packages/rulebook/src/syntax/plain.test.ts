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
})
