import { describe, expect, it } from 'vitest'
import type { Request } from '../request.ts'
import { match } from './limit.samples.ts'

describe('the cost', () => {
  function cost(own: number | string, request: Request = {}, given?: number): number | string {
    const { steps, problem } = match([{ cost: own }], request, given)
    return problem ?? steps[0]!.cost
  }

  it('is the rule’s, else the caller’s, else 1', () => {
    expect(cost(1)).toBe(1)
    expect(cost(3)).toBe(3)
    expect(cost(1, {}, 5)).toBe(5)
    expect(cost(3, {}, 5)).toBe(3)
    expect(cost(1, {}, 0)).toBe(0)
  })

  it('is read where the rule says', () => {
    expect(cost('header:X-Tokens', { headers: { 'x-tokens': ' 120 ' } })).toBe(120)
    expect(cost('attribute:tokens', { attributes: { tokens: 7 } })).toBe(7)
    expect(cost('attribute:tokens', { attributes: { tokens: '0' } })).toBe(0)
    expect(cost('header:x-tokens')).toBe(1)
    expect(cost('header:x-tokens', {}, 9)).toBe(9)
  })

  it.each(['-1', '1.5', 'NaN', '', '1e3', '0x10', '9007199254740992', '٣', '1,2'])(
    'is never free for %j',
    (value) => {
      expect(cost('header:x-tokens', { headers: { 'x-tokens': value } })).toContain('header:x-tokens')
    },
  )

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is never free for %d', (value) => {
    expect(cost('attribute:tokens', { attributes: { tokens: value } })).toContain('attribute:tokens')
    expect(cost(1, {}, value)).toContain('cost')
  })

  it('that cannot be told leaves nothing to charge', () => {
    const limits = [{ name: 'b' }, { cost: 'header:x' }]
    expect(match(limits, { headers: { x: 'many' } })).toMatchObject({ steps: [] })
  })
})
