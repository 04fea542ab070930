import { describe, expect, it } from 'vitest'
import { formatProblem, RulebookError } from '../problem.ts'
import { parse } from './parse.ts'
import { nodeAt, positionOf, scalarAt } from './source.ts'

const dataOf = (text: string): unknown => parse(text, 'f').source.root.value
const problemsOf = (text: string): string[] => {
  try {
    return parse(text, 'f').problems.map(formatProblem)
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems.map(formatProblem)
  }
}

describe('a document', () => {
  it('is plain data, and every node has its place', () => {
    const { source } = parse('a: 1\nb:\n  - c: [x, "y"]\n', 'f')
    expect(source.root.value).toEqual({ a: 1, b: [{ c: ['x', 'y'] }] })
    expect(positionOf(source, ['b', 0, 'c', 1])).toEqual({ file: 'f', line: 3, column: 12 })
    expect(positionOf(source, ['b', 0, 'c'], 'key')).toEqual({ file: 'f', line: 3, column: 5 })
    expect(positionOf(source, ['b', 0, 'none'])).toEqual({ file: 'f', line: 3, column: 5 })
    expect(positionOf(source, ['b', 'none', 'none'])).toEqual({ file: 'f', line: 2, column: 1 })
  })

  it('counts columns alike after a byte order mark and in Windows’ lines', () => {
    const { source } = parse('\uFEFFa: 1\r\nb:\r\n  c: 2\r\n', 'f')
    expect(positionOf(source, ['b', 'c'])).toEqual({ file: 'f', line: 3, column: 6 })
  })

  it('keeps what versions of YAML read differently as text', () => {
    const odd = 'a: [010, 0x10, 1_000, 1e3, .nan, .inf, on, yes, 12:30, +1]'
    expect(dataOf(odd)).toEqual({
      a: ['010', '0x10', '1_000', '1e3', '.nan', '.inf', 'on', 'yes', '12:30', '+1'],
    })
    expect(dataOf(`%YAML 1.1\n---\n${odd}`)).toEqual(dataOf(odd))
    expect(dataOf('a: [0, 12, -3, 1.50, true, null]')).toEqual({ a: [0, 12, -3, 1.5, true, null] })
  })

  it('remembers how a scalar is written', () => {
    const { source } = parse('a: 1.50\nb: True\nc: "x"\nd:\n', 'f')
    expect(['a', 'b', 'c', 'd'].map((key) => scalarAt(source, [key]))).toEqual(['1.50', 'True', 'x', ''])
  })

  it('may use anchors, aliases and merges', () => {
    const text =
      'base: &base { a: 1, b: 2 }\nother: &other { b: 3, c: 4 }\nboth: { b: 9, <<: [*base, *other] }\nsame: *base\n'
    expect(dataOf(text)).toMatchObject({ both: { a: 1, b: 9, c: 4 }, same: { a: 1, b: 2 } })
  })

  it('points into the anchor where an alias brings a mistake', () => {
    const { source } = parse('base: &base\n  a: 1\nsame: *base\n', 'f')
    expect(positionOf(source, ['same', 'a'])).toMatchObject({ line: 2, column: 6 })
    expect(positionOf(source, ['same'], 'key')).toMatchObject({ line: 3, column: 1 })
  })
})

describe('what is no document', () => {
  it.each([
    ['', 'f:1:1: the file is empty: a rulebook begins with its domain'],
    ['# nothing\n', 'f:1:1: the file is empty: a rulebook begins with its domain'],
    ["'''\n", "f:2:1: Missing closing 'quote"],
    ['a:\n\tb: 1\n', 'f:2:1: Tabs are not allowed as indentation'],
    ['a: 1\n---\nb: 2\n', 'f:2:1: a second document begins here: a file is one document'],
    ['a: !!binary aGk=\n', 'f:1:4: Unresolved tag: tag:yaml.org,2002:binary'],
    ['a: 1\nb: 2\n"a": 3\n', 'f:3:1: "a" is defined twice'],
    ['1: a\n', 'f:1:1: a key must be text, not 1: put it in quotes'],
    ['[a]: b\n', 'f:1:1: a key must be text'],
    ['__proto__: a\n', 'f:1:1: "__proto__" cannot be a key'],
    ['a: *none\n', 'f:1:4: no anchor &none before this alias'],
    ['a: &a [*a]\n', 'f:1:8: &a holds an alias of itself'],
    ['<<: [1]\n', 'f:1:1: << merges maps, and this is none'],
  ])('%j is told where it is', (text, problem) => {
    expect(problemsOf(text)).toContainEqual(problem)
  })

  it('is told with all its mistakes', () => {
    expect(problemsOf('a: 1\na: 2\nb: { c: 1, c: 2 }\n')).toHaveLength(2)
  })
})

describe('a hostile document', () => {
  it.each(['[', '{ a: ', '- ', '? '])('of %jfor megabytes is refused before it is read', (nest) => {
    expect(problemsOf(nest.repeat(1_000_000).slice(0, 4_000_000))).toEqual([
      expect.stringContaining('nested more than 100 levels deep'),
    ])
  })

  it('of aliases that multiply is refused', () => {
    const bomb = ['a: &a0 [x]', ...Array.from({ length: 30 }, (_, i) => `b${i}: &a${i + 1} [*a${i}, *a${i}]`)]
    expect(problemsOf(bomb.join('\n'))).toEqual([expect.stringContaining('more than 1000000 values')])
  })

  it('of aliases that nest is refused', () => {
    const tower = ['a: &a0 [x]', ...Array.from({ length: 500 }, (_, i) => `b${i}: &a${i + 1} [*a${i}]`)]
    expect(problemsOf(tower.join('\n'))).toContainEqual(
      expect.stringContaining('levels deep, aliases followed'),
    )
  })

  it('of more than 4 MiB is refused', () => {
    expect(problemsOf(`a: ${'ä'.repeat(2 * 1_024 * 1_024)}`)).toEqual(['f:1:1: is larger than 4 MiB'])
  })

  it('with names of the prototype is data like any other', () => {
    const { source } = parse('constructor: 1\ntoString: 2\n', 'f')
    expect(nodeAt(source, ['hasOwnProperty'])).toBeUndefined()
    expect(Object.keys(source.root.value as object)).toEqual(['constructor', 'toString'])
  })
})
