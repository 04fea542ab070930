import { compile, type Domain } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { describe, expect, it } from 'vitest'
import { asCheck, asRequest, ruleCases } from './rule-case.ts'

const [domain] = loadText(`
domain: d
limits:
  - { name: login, when: { method: POST, path: /login }, key: [ip], limit: 5/minute, on_store_error: closed }
  - { name: user, when: { path: /api/** }, key: [user], limit: 50/second, algorithm: fixed-window }
  - { name: shadow, when: { path: /s }, key: [ip], limit: 5/minute, mode: shadow }
  - { name: slots, when: { path: /slots }, key: [ip], limit: 5/minute, algorithm: concurrency }
  - { name: costly, when: { path: /c }, key: [ip], limit: 5/minute, cost: 2 }
  - { name: huge, when: { path: /h }, key: [ip], limit: 1000000/minute }
  - { name: everyone, key: [], limit: 20/second, algorithm: gcra }
`) as [Domain]
const rules = compile([domain])

describe('the cases of rules', () => {
  it('are the limits that a request meets, with fresh keys, their bounds, and how they fail', () => {
    const { cases } = ruleCases(rules, [domain], asCheck('/v1/check'))
    expect(
      cases.map(({ name, atOnce, isKeyed, aligned, onStoreError }) => ({
        name,
        atOnce,
        isKeyed,
        aligned,
        onStoreError,
      })),
    ).toEqual([
      { name: 'login', atOnce: 5, isKeyed: true, aligned: false, onStoreError: 'closed' },
      { name: 'user', atOnce: 20, isKeyed: true, aligned: true, onStoreError: 'open' },
      { name: 'everyone', atOnce: 20, isKeyed: false, aligned: false, onStoreError: 'open' },
    ])
    const bodyOf = (key: string) => JSON.parse(cases[0]!.request(key).body!)
    expect(bodyOf('a-1')).toEqual({
      domain: 'd',
      request: { method: 'POST', path: '/login', ip: '10.0.1.1' },
    })
    expect(bodyOf('a-258').request.ip).toBe('10.1.2.1')
  })

  it('do not hold what cannot be tried, and say why', () => {
    const { passed } = ruleCases(rules, [domain], asRequest('x-forwarded-for'))
    expect(Object.fromEntries(passed.map(({ name, reason }) => [name, reason]))).toMatchObject({
      user: 'only the application knows user',
      shadow: 'it refuses nothing',
      slots: 'it counts requests under way',
      costly: 'a request costs other than 1',
      huge: 'more than 20000 requests are admitted at once',
    })
  })

  it('are requests of their own where the target is an application', () => {
    const [login] = ruleCases(rules, [domain], asRequest('x-forwarded-for')).cases
    expect(login!.request('k-3')).toMatchObject({
      method: 'POST',
      path: '/login',
      headers: { 'x-forwarded-for': '10.0.3.1' },
    })
    const [own] = ruleCases(rules, [domain], asRequest(undefined)).cases
    expect(own!.request('k-3').from).toBe('127.0.3.1')
  })
})
