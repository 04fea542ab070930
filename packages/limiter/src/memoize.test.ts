import { describe, expect, it } from 'vitest'
import { memoized } from './memoize.ts'

describe('what is memoized', () => {
  it('is worked out once, however often it is asked for', () => {
    let asked = 0
    const length = memoized((text) => ++asked && text.length)
    expect([length('ada'), length('ada'), length('')]).toEqual([3, 3, 0])
    expect(asked).toBe(2)
  })

  it('is never a failure, nor more than a bound', () => {
    const asked: string[] = []
    const first = memoized((text) => {
      asked.push(text)
      return text === 'bad' ? undefined : text
    })
    first('bad')
    first('bad')
    expect(asked).toHaveLength(2)
    for (let i = 0; i < 1_024; i++) first(`${i}`)
    first('0')
    expect(asked).toHaveLength(1_026)
    first('1024')
    first('0')
    expect(asked.slice(-2)).toEqual(['1024', '0'])
  })
})
