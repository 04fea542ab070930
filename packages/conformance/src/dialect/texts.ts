import type { Dialect, Header } from '@sluice/limiter/respond'
import fc from 'fast-check'
import { strangeReports } from './reports.ts'

/** What the grammars of headers are made of, and what has no place in them. */
const PIECES = [
  ...[
    '"',
    '\\',
    ',',
    ';',
    '=',
    ':',
    '?',
    '?1',
    '-',
    '.',
    ' ',
    '\t',
    '*',
    '(',
    ')',
    '@',
    '%',
    '\0',
    '\r\n',
    'é',
  ],
  ...['0', '1', '100', '1.5', '-1', '1e3', '999999999999999', '9999999999999999', '9'.repeat(400)],
  ...['a', 'q', 'r', 't', 'w', 'pk', 'qu', 'limit', 'remaining', 'reset', '"hour"', ':AP8Q:', 'A'],
]

const MIXTURES = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''))

const HEADER_TEXTS = fc.oneof(
  MIXTURES,
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme-ascii' }),
  fc.double().map(String),
  fc.integer().map(String),
)

/** Headers with anything in them: nothing that means anything, or the dialect's own lines, damaged. */
export function textsFor(dialect: Dialect): fc.Arbitrary<readonly Header[]> {
  const strange = fc
    .array(fc.option(HEADER_TEXTS), { minLength: dialect.names.length, maxLength: dialect.names.length })
    .map((values) =>
      values.flatMap((value, i): Header[] => (value === null ? [] : [[dialect.names[i]!, value]])),
    )
  const damage = fc.record({ line: fc.nat(), at: fc.nat(), cut: fc.nat(3), put: fc.constantFrom(...PIECES) })
  const damaged = fc.tuple(strangeReports, fc.array(damage, { maxLength: 3 })).map(([report, damages]) => {
    const lines = [...dialect.headers(report)]
    for (const { line, at, cut, put } of damages) {
      const target = lines[line % Math.max(1, lines.length)]
      if (target !== undefined) lines[line % lines.length] = [target[0], damagedText(target[1], at, cut, put)]
    }
    return lines
  })
  return fc.oneof(strange, damaged)
}

/** Texts longer than any server sends: one piece, over and over, as long as may be read, and longer. */
export const LONG_TEXTS: readonly string[] = PIECES.flatMap((piece) =>
  [16_384, 100_000].map((length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)),
)

function damagedText(text: string, at: number, cut: number, put: string): string {
  const place = at % (text.length + 1)
  return text.slice(0, place) + put + text.slice(place + cut)
}
