import { describe, expect, it } from 'vitest'
import { type FileProblem, formatProblem, RulebookError } from './problem.ts'

const problem: FileProblem = {
  file: 'shop.yaml',
  line: 3,
  column: 5,
  message: 'unknown field "nam"',
  hint: 'name',
}

describe('a problem', () => {
  it('is one line with its place and its hint', () => {
    expect(formatProblem(problem)).toBe('shop.yaml:3:5: unknown field "nam" (did you mean "name"?)')
  })

  it('has no question where nothing is near', () => {
    expect(formatProblem({ file: 'a', line: 1, column: 1, message: 'is empty' })).toBe('a:1:1: is empty')
  })
})

describe('a rulebook error', () => {
  it('has every problem, and a stable code', () => {
    const error = new RulebookError([problem, problem])
    expect(error).toMatchObject({
      code: 'ERR_SLUICE_RULEBOOK',
      name: 'RulebookError',
      problems: [problem, problem],
    })
    expect(error.message.split('\n')).toHaveLength(2)
  })

  it('tells twenty of many in its message', () => {
    const lines = new RulebookError(Array.from({ length: 50 }, () => problem)).message.split('\n')
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('and 30 more')
  })
})
