import { describe, expect, it } from 'vitest'
import { match } from './limit.samples.ts'

describe('exempt and overrides', () => {
  it('look at the client’s address and at the raw key', () => {
    const own = { key: ['ip', 'user|fold', 'api-key'], exempt: ['10.0.0.0/8', 'Ren\u00e9', 'sk-free'] }
    const applies = (ip: string, user: string, key: string): boolean =>
      match([own], { ip, attributes: { user, 'api-key': key } }).steps.length > 0
    expect(applies('10.1.1.1', 'x', 'y')).toBe(false)
    expect(applies('1.1.1.1', 'RENE\u0301', 'y')).toBe(false)
    expect(applies('1.1.1.1', 'x', 'sk-free')).toBe(false)
    expect(applies('1.1.1.1', 'x', 'y')).toBe(true)
  })

  it('exempt an address under any key, and without one', () => {
    expect(match([{ exempt: ['10.0.0.0/8'] }], { ip: '10.1.1.1' }).steps).toEqual([])
    expect(match([{ key: ['user'], exempt: ['10.0.0.0/8'] }], { ip: '10.1.1.1' }).missing).toEqual([])
  })

  it('give the first limit that fits, on the same counter', () => {
    const overrides = [
      { match: '10.1.0.0/16', quota: { limit: 50, period: '1m' } },
      { match: '10.0.0.0/8', quota: { limit: 40, period: '1m' } },
      { match: '10.1.1.1', quota: { limit: 30, period: '1m' } },
    ]
    const step = (ip: string) => match([{ key: ['ip'], overrides }], { ip }).steps[0]!
    expect(['10.1.1.1', '10.2.2.2', '11.1.1.1'].map((ip) => step(ip).rule.plan.capacity)).toEqual([50, 40, 5])
    expect(step('10.1.1.1').rule.plan.kind).toBe(step('11.1.1.1').rule.plan.kind)
  })
})
