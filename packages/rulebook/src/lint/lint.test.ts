import { describe, expect, it } from 'vitest'
import { formatProblem, loadText, RulebookError } from '../index.ts'

const problemsOf = (text: string): string[] => {
  try {
    loadText(text, 'f')
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems.map(formatProblem)
  }
}
/** Line 3 holds the first limit, line 4 the second… */
const limits = (...fields: string[]): string =>
  `domain: d\nlimits:\n${fields.map((own) => `  - { limit: 5/minute, ${own} }\n`).join('')}`
/** The same for descriptors. */
const descriptors = (...fields: string[]): string =>
  `domain: d\ndescriptors:\n${fields.map((own) => `  - { ${own} }\n`).join('')}`
const LIMIT = 'unit: minute, requests_per_unit: 5'

describe('limits of one domain', () => {
  it('have names of their own', () => {
    expect(problemsOf(limits('key: [], name: a', 'key: [ip], name: a'))).toEqual([
      'f:4:41: a limit is named "a" already, at f:3:5',
    ])
  })

  it('replace others, and those there are', () => {
    expect(problemsOf(limits('key: [ip], name: login', 'key: [], name: b, replaces: [logn]'))).toEqual([
      'f:4:53: no limit of this domain is named "logn" (did you mean "login"?)',
    ])
    expect(problemsOf(limits('key: [], name: a, replaces: [a]'))).toEqual(['f:3:53: "a" replaces itself'])
  })

  it('do not replace one another until none is left', () => {
    const circle = limits(
      'key: [ip], name: a, when: { path: /a }, replaces: [b]',
      'key: [ip], name: b, when: { path: /b }, replaces: [c]',
      'key: [ip], name: c, when: { path: /c }, replaces: [a]',
      'key: [ip], name: d, when: { path: /d }, replaces: [a]',
    )
    expect(problemsOf(circle).map((told) => told.split(': ')[1])).toEqual([
      '"a" and "b" replace one another',
      '"b" and "c" replace one another',
      '"c" and "a" replace one another',
    ])
    expect(problemsOf(circle.replace('replaces: [a] }\n  - {', '} \n  - {'))).toEqual([])
  })

  it('are each met by some request', () => {
    const message = 'f:3:41: "a" never applies: "b" replaces it whenever it matches'
    expect(problemsOf(limits('key: [ip], name: a', 'key: [ip], name: b, replaces: [a]'))).toEqual([message])
    expect(problemsOf(limits('key: [ip], name: a', 'key: [], name: b, replaces: [a]'))).toEqual([message])
    expect(
      problemsOf(
        limits(
          'key: [ip], name: a, when: { path: /x }',
          'key: [ip], name: b, when: { path: /x }, replaces: [a]',
        ),
      ),
    ).toEqual([message])
  })

  it.each([
    'key: [user], name: b, replaces: [a]',
    'key: [ip], name: b, when: { path: /x }, replaces: [a]',
    'key: [ip], name: b, exempt: [10.0.0.0/8], replaces: [a]',
  ])('may each be met where %s leaves something over', (own) => {
    expect(problemsOf(limits('key: [ip], name: a', own))).toEqual([])
  })
})

describe('descriptors of one domain', () => {
  it('stand once beside their siblings', () => {
    expect(
      problemsOf(descriptors('key: a, descriptors: [{ key: b, value: c }, { key: b, value: c }]')),
    ).toEqual(['f:3:58: descriptor "d.a.b_c" is defined already, at f:3:29'])
    expect(problemsOf(descriptors('key: a', 'key: a'))).toHaveLength(1)
    expect(problemsOf(descriptors('key: a', 'key: b, descriptors: [{ key: a }]'))).toEqual([])
  })

  it('are not taken for others whose names only look like theirs', () => {
    expect(problemsOf(descriptors('key: a_b, value: c', 'key: a, value: b_c', 'key: a_b_c'))).toEqual([])
  })

  it.each([
    ['key: a, value: "x*"', 'key: a, value: "xy*"'],
    ['key: a, value: "*"', 'key: a, value: "x*y*z"'],
    ['key: a, value: "x*z"', 'key: a, value: "xy*yz"'],
    ['key: "a*"', 'key: "ab*", value: c'],
    ['key: a, value: "*"', 'key: a'],
    ['key: a', 'key: a, value: "*"'],
  ])('are reached: not as %s and %s', (...pair) => {
    expect(problemsOf(descriptors(...pair))).toEqual([expect.stringContaining('is never reached')])
  })

  it.each([
    ['key: a, value: "xy*"', 'key: a, value: "x*"'],
    ['key: a, value: "x*"', 'key: a, value: xy'],
    ['key: a, value: "x*"', 'key: b, value: "xy*"'],
    ['key: a, value: "x*y"', 'key: a, value: "xy*"'],
    ['key: a, value: "x*"', 'key: a'],
  ])('are reached: as %s and %s', (...pair) => {
    expect(problemsOf(descriptors(...pair))).toEqual([])
  })

  it('replace those there are, at any depth', () => {
    const nested = `key: b, descriptors: [{ key: c, rate_limit: { ${LIMIT}, name: deep } }]`
    expect(
      problemsOf(descriptors(`key: a, rate_limit: { ${LIMIT}, replaces: [{ name: deep }] }`, nested)),
    ).toEqual([])
    expect(
      problemsOf(descriptors(`key: a, rate_limit: { ${LIMIT}, replaces: [{ name: dep }] }`, nested)),
    ).toEqual(['f:3:84: no limit of this domain is named "dep" (did you mean "deep"?)'])
  })
})

describe('a descriptor that is assigned', () => {
  const ASSIGNED = 'rate_limit: { unit: minute, requests_per_unit: 5, algorithm: token-bucket, assign: rlqs }'

  it.each([
    [`key: a, value: x, descriptors: [{ key: b, ${ASSIGNED} }]`, undefined],
    [
      `key: "a*", descriptors: [{ key: b, ${ASSIGNED} }]`,
      'a limit that is assigned needs keys without *, and a* has one',
    ],
    [
      `key: a, descriptors: [{ key: a, ${ASSIGNED} }]`,
      'a limit that is assigned needs keys that differ, and a is there twice',
    ],
  ])('%s', (fields, problem) => {
    expect(problemsOf(descriptors(fields))).toEqual(
      problem === undefined ? [] : [expect.stringContaining(problem)],
    )
  })
})
