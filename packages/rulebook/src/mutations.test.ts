import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isPair, isScalar, LineCounter, type Node, type Pair, parseDocument, type Scalar, visit } from 'yaml'
import { type FileProblem, loadText, RulebookError } from './index.ts'

/** A field of a file, with the offsets of its key and its value. */
interface Field {
  readonly name: string
  readonly within: readonly string[]
  readonly key: Span
  readonly value: Span
  /** Its value, where that is a scalar. */
  readonly scalar: unknown
}
type Span = readonly [start: number, end: number]

/** Names of anyone's choice, so that none can be misspelt. */
const FREE = ['header', 'query', 'metadata']
const PLANS = ['free', 'pro']
/** What may be left empty, as envoyproxy/ratelimit has it. */
const MAY_BE_EMPTY = ['value', 'rate_limit', 'descriptors']
const WORDS = [
  'algorithm',
  'rounding',
  'refill',
  'on_limit',
  'mode',
  'on_store_error',
  'on_missing_key',
  'unit',
]

describe.each(['every-limit-field.yaml', 'every-descriptor-field.yaml'])('in %s', (file) => {
  const text = readFileSync(new URL(`../fixtures/valid/${file}`, import.meta.url), 'utf8')
  const { fields, at } = fieldsOf(text)
  const each = (wanted: (field: Field) => boolean = () => true) =>
    it.each(
      fields
        .filter(wanted)
        .map((field) => [`${[...field.within, field.name].join('.')} (${at(field.key[0])})`, field] as const),
    )
  const put = ([start, end]: Span, by: string): string => {
    const newline = text.slice(start, end).endsWith('\n') ? '\n' : ''
    return text.slice(0, start) + by + newline + text.slice(end)
  }

  it('every field is right as it stands', () => {
    expect(problemsOf(text)).toEqual([])
    expect(fields.length).toBeGreaterThan(40)
  })

  each(({ name, within }) => !FREE.includes(within.at(-1)!) && !PLANS.includes(name))(
    'a misspelt %s is found and put right',
    (_, field) => {
      for (const typo of typosOf(field.name)) {
        const found = problemsOf(put(field.key, typo)).map(({ line, column, hint }) => [
          `${line}:${column}`,
          hint,
        ])
        expect(found, typo).toContainEqual([at(field.key[0]), field.name])
      }
    },
  )

  each()('a second %s is found', (_, { name, key: [start] }) => {
    const [line, column] = at(start).split(':').map(Number)
    const twice = put([start, start], `${name}: 1\n${' '.repeat(column! - 1)}`)
    expect(problemsOf(twice)).toEqual([
      { file: 'mutated.yaml', line: line! + 1, column, message: `"${name}" is defined twice` },
    ])
  })

  each(({ name, within }) => ![name, ...within].includes('metadata'))(
    '%s of a wrong type is found',
    (_, field) => {
      const empty = MAY_BE_EMPTY.includes(field.name) ? [] : ['~', '']
      for (const wrong of ['{ wrong: [] }', '[[wrong]]', ...empty]) expectProblemAt(field, wrong)
    },
  )

  each(({ scalar }) => typeof scalar === 'number')('%s out of range is found', (_, field) => {
    const odd = [
      '-1',
      '1.5',
      '.nan',
      '.inf',
      '9007199254740992',
      '1e3',
      '010',
      '0x10',
      '1_000',
      '"5"',
      'ten',
      'true',
    ]
    for (const wrong of odd) expectProblemAt(field, wrong)
  })

  each(({ scalar }) => typeof scalar === 'boolean')(
    '%s in the words of YAML 1.1 is found and put right',
    (_, field) => {
      for (const wrong of ['on', 'yes', 'Y', '"true"'])
        expect(expectProblemAt(field, wrong).hint).toBe('true')
      for (const wrong of ['off', 'no', 'N']) expect(expectProblemAt(field, wrong).hint).toBe('false')
      for (const wrong of ['1', 'maybe']) expectProblemAt(field, wrong)
    },
  )

  each(
    ({ name, within, scalar }) =>
      WORDS.includes(name) && !FREE.includes(within.at(-1)!) && typeof scalar === 'string',
  )('a misspelt word at %s is found and put right', (_, field) => {
    const word = String(field.scalar)
    for (const typo of typosOf(word)) expect(expectProblemAt(field, typo).hint, typo).toBe(word)
  })

  function expectProblemAt(field: Field, wrong: string): FileProblem {
    const problems = problemsOf(put(field.value, wrong))
    const lines = [field.key, field.value].map(([start]) => Number(at(start).split(':')[0]))
    const found = problems.find(({ line }) => lines.includes(line))
    expect(found, `${wrong} gave ${JSON.stringify(problems)}`).toBeDefined()
    return found!
  }
})

/** A letter too few, a letter too many, two changed about. */
function typosOf(name: string): string[] {
  const typos = [
    name.slice(0, -1),
    `${name}${name.at(-1)}`,
    `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`,
  ]
  return typos.filter((typo) => typo !== name && typo.length > 1)
}

function problemsOf(text: string): readonly FileProblem[] {
  try {
    loadText(text, 'mutated.yaml')
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems
  }
}

function fieldsOf(text: string): { fields: Field[]; at: (offset: number) => string } {
  const lines = new LineCounter()
  const fields: Field[] = []
  visit(parseDocument(text, { lineCounter: lines }), {
    Pair(_, { key, value }: Pair, ancestors) {
      const within = ancestors.filter(isPair).map((pair) => String((pair.key as Scalar).value))
      const scalar = isScalar(value) ? value.value : undefined
      fields.push({
        name: String((key as Scalar).value),
        within,
        key: spanOf(key),
        value: spanOf(value),
        scalar,
      })
    },
  })
  return {
    fields,
    at(offset) {
      const { line, col } = lines.linePos(offset)
      return `${line}:${col}`
    },
  }
}

function spanOf(node: unknown): Span {
  const [start, end] = (node as Node).range!
  return [start, end]
}
