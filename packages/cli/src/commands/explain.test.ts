import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const rules = fileURLToPath(new URL('../../fixtures/rules/', import.meta.url))
const shop = `${rules}shop.yaml`
const login = { request: { method: 'POST', path: '/login', ip: '203.0.113.7', headers: { 'X-Any': 'x' } } }

function explain(question: unknown, ...more: string[]): ReturnType<typeof runLine> {
  return runLine(['explain', shop, '--request', '-', ...more], JSON.stringify(question))
}

describe('sluice explain', () => {
  it('says which rules apply, why the others do not, and with what figures', async () => {
    expect(await explain(login)).toEqual({
      code: 0,
      err: '',
      out: [
        'shop: 2 of 3 apply; with nothing used, the request is admitted: login decides',
        '',
        '+ login applies',
        '  key      203.0.113.7',
        '  plan     sliding-window-log, 5 per 1 min',
        '  figures  admits; 5 of 5 remain',
        '',
        '- search: path is not /search/**',
        '',
        '+ everyone applies',
        '  key      (everyone)',
        '  plan     token-bucket, 10000 per 1 s',
        '  figures  admits; 10000 of 10000 remain',
        '',
      ].join('\n'),
    })
  })

  it('says it as JSON', async () => {
    const { code, out } = await explain({ ...login, domain: 'shop', cost: 6 }, '--format', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      domain: 'shop',
      rules: [
        {
          rule: 'login',
          applies: true,
          key: '203.0.113.7',
          plan: { algorithm: 'sliding-window-log', limit: 5 },
          figures: { allowed: false, retryAfterMs: null },
        },
        { rule: 'search', applies: false, reason: 'path is not /search/**' },
        { rule: 'everyone', applies: true, key: '' },
      ],
      decision: { allowed: false, policy: 'login', retryAfterMs: null },
    })
  })

  it('explains descriptors alike', async () => {
    const question = {
      domain: 'messaging',
      descriptors: [
        { entries: [{ key: 'message_type', value: 'marketing' }], cost: 2 },
        { entries: [{ key: 'message_type', value: 'news' }] },
      ],
    }
    const argv = ['explain', rules.replace(/rules\/$/, 'rules/messaging.yaml'), shop, '--request', '-']
    const { code, out } = await runLine([...argv, '--format', 'json'], JSON.stringify(question))
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      rules: [
        {
          applies: true,
          plan: { algorithm: 'fixed-window', limit: 5 },
          figures: { allowed: true, remaining: 5 },
        },
        { applies: false, reason: expect.any(String) },
      ],
    })
  })

  it.each([
    [{ ...login, cosst: 1 }, /unknown field "cosst" in the body \(did you mean "cost"\?\)/],
    [{ request: { pth: '/' } }, /unknown field "pth" in request \(did you mean "path"\?\)/],
    [{}, /standard input: the body must have either request or descriptors/],
    [{ request: { path: 1 } }, /request\.path must be text of at most 16384 characters/],
    [{ request: { headers: { a: 1 } } }, /request\.headers\.a must be text of at most 16384 characters/],
    [{ descriptors: [{ entries: [{ key: 'a' }] }] }, /descriptors\[0\]\.entries\[0\]\.value is missing/],
    [{ ...login, cost: -1 }, /cost must be a whole number from 0 to 2\^53−1/],
    [[], /the body must be an object/],
    [{ ...login, domain: 'shp' }, /unknown domain "shp" \(did you mean "shop"\?\)/],
    ['{', /the body must be an object/],
  ])('exits 2 for a request such as %j', async (question, message) => {
    const { code, out, err } = await explain(question)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('exits 2 for what is not JSON, and for a domain left open where there are several', async () => {
    const broken = await runLine(['explain', shop, '--request', '-'], '{')
    expect(broken.code).toBe(2)
    expect(broken.err).toMatch(/standard input is not JSON/)
    const open = await runLine(['explain', rules, '--request', '-'], JSON.stringify(login))
    expect(open.code).toBe(1) // the folder holds mistakes.yaml
    const several = await runLine(
      ['explain', shop, `${rules}messaging.yaml`, '--request', '-'],
      JSON.stringify(login),
    )
    expect(several.err).toMatch(/2 domains, .*: choose one with "domain" in standard input/)
  })
})
