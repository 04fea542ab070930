import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { adviseRulebook } from './advise.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-advise-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Each advice as `kind of rule at line: the word that stands there`. */
async function adviceOf(text: string): Promise<string[]> {
  const path = join(folder, 'rules.yaml')
  writeFileSync(path, text)
  const advice = await adviseRulebook([path])
  for (const { file, reason, instead } of advice)
    expect([file, reason === '', instead === '']).toEqual([path, false, false])
  const lines = text.split('\n')
  return advice.map(({ line, column, kind, rule }) => {
    const [word] = /^(?:[\w-]+|.)/.exec(lines[line - 1]!.slice(column - 1))!
    return `${kind} of ${rule} at ${line}: ${word}`
  })
}

/** Line 3 holds the first limit. The last one keeps the domain from having one limit alone. */
const limits = (...fields: string[]): string =>
  `domain: d\nlimits:\n${[...fields, 'name: rest, key: [ip], limit: 1000/second'].map((own) => `  - { ${own} }\n`).join('')}`
const LOGIN = 'when: { path: /login }, key: [ip], limit: 5/minute'

describe('Acceptance 15.5: advice', () => {
  it('is given on a fixed window on a login', async () => {
    const safe = 'on_store_error: closed'
    expect(await adviceOf(limits(`name: a, ${LOGIN}, ${safe}, algorithm: fixed-window`))).toEqual([
      'window-on-login of a at 3: fixed-window',
    ])
    expect(await adviceOf(limits(`name: a, ${LOGIN}, ${safe}, algorithm: sliding-window-log`))).toEqual([])
    expect(
      await adviceOf(limits(`name: a, ${LOGIN.replace('login', 'images')}, algorithm: fixed-window`)),
    ).toEqual([])
  })

  it('is given on a login that opens while the store is down, also by default', async () => {
    expect(await adviceOf(limits(`name: a, ${LOGIN}`))).toEqual(['open-login of a at 3: {'])
    expect(await adviceOf(limits(`name: a, ${LOGIN}, on_store_error: open`))).toEqual([
      'open-login of a at 3: open',
    ])
    for (const mode of ['closed', 'local'])
      expect(await adviceOf(limits(`name: a, ${LOGIN}, on_store_error: ${mode}`))).toEqual([])
    expect(await adviceOf(limits(`name: a, ${LOGIN}, mode: shadow`))).toEqual([])
  })

  it.each(['/login', '/v1/sign-in', '/auth/2fa', '/account/password-reset', '/LogIn'])(
    'takes %s for a login',
    async (path) => {
      expect(
        await adviceOf(limits(`name: a, when: { path: ${path} }, key: [ip], limit: 5/minute`)),
      ).toHaveLength(1)
    },
  )

  it.each(['/login-help', '/logins', '/blog/in', '/v1/authors'])('does not take %s for one', async (path) => {
    expect(await adviceOf(limits(`name: a, when: { path: ${path} }, key: [ip], limit: 5/minute`))).toEqual([])
  })

  it('is given on a limit by user without one by address', async () => {
    const alone = (more: string): string =>
      `domain: d\nlimits:\n  - { name: a, when: { path: /search }, key: [user], limit: 5/minute${more} }\n`
    const other = (own: string): string => `${alone('')}  - { name: b, ${own} }\n`
    expect(await adviceOf(alone(''))).toEqual(['user-without-address of a at 3: user'])
    expect(await adviceOf(alone(', on_missing_key: deny'))).toEqual([])
    expect(await adviceOf(other('key: [ip], limit: 50/minute'))).toEqual([])
    expect(await adviceOf(other('key: [], limit: 50/minute'))).toEqual([])
    expect(await adviceOf(other('key: [ip], limit: 50/minute, when: { path: /search }'))).toEqual([])
    expect(await adviceOf(other('key: [ip], limit: 50/minute, when: { path: /other }'))).toHaveLength(1)
    expect(await adviceOf(other('key: [ip], limit: 50/minute, mode: shadow'))).toHaveLength(1)
  })

  it('wants an address on a login, where a limit for all together is not enough', async () => {
    const login = 'name: a, when: { path: /login }, key: [user], limit: 5/minute, on_store_error: closed'
    const text = (more: string): string => `domain: d\nlimits:\n  - { ${login} }\n  - { name: b, ${more} }\n`
    expect(await adviceOf(text('key: [], limit: 500/minute'))).toEqual([
      'user-without-address of a at 3: user',
    ])
    expect(await adviceOf(text('key: [ip/24], limit: 500/minute'))).toEqual([])
  })

  it('is given on a lease of more than a twentieth of the limit', async () => {
    expect(await adviceOf(limits('name: a, key: [ip], limit: 5/minute, lease: 2'))).toEqual([
      'lease-on-small-limit of a at 3: 2',
    ])
    expect(await adviceOf(limits('name: a, key: [ip], limit: 100/minute, lease: 5'))).toEqual([])
    expect(await adviceOf(limits('name: a, key: [ip], limit: 100/minute, lease: 6'))).toHaveLength(1)
  })

  it('is given on one limit for all routes', async () => {
    const one = (own: string): string =>
      `domain: d\nlimits:\n  - { name: a, key: [ip], limit: 5/minute${own} }\n`
    expect(await adviceOf(one(''))).toEqual(['one-limit-for-all-routes of a at 3: a'])
    expect(await adviceOf(one(', when: { path: /x }'))).toEqual([])
    expect(await adviceOf(one(', cost: header:x-cost'))).toEqual([])
  })

  it('is given on descriptors by what they say, not by the defaults of their format', async () => {
    const text = (own: string): string =>
      `domain: d\ndescriptors:\n  - key: auth_type\n    value: login\n    rate_limit: { unit: minute, requests_per_unit: 5${own} }\n`
    expect(await adviceOf(text(''))).toEqual([])
    expect(await adviceOf(text(', algorithm: fixed-window, on_store_error: open, lease: 2'))).toEqual([
      'window-on-login of auth_type_login at 5: fixed-window',
      'open-login of auth_type_login at 5: open',
      'lease-on-small-limit of auth_type_login at 5: 2',
    ])
    const nested = `domain: d\ndescriptors:\n  - { key: login, descriptors: [{ key: ip, rate_limit: { name: deep, unit: minute, requests_per_unit: 5, on_store_error: open } }] }\n`
    expect(await adviceOf(nested)).toEqual(['open-login of deep at 3: open'])
  })

  it('is not given on a rulebook with mistakes: those come first', async () => {
    await expect(adviceOf('domain: d\nlimits: [{ name: a, kye: [ip], limit: 5/minute }]')).rejects.toThrow(
      /kye/,
    )
  })

  it('is not given on any rulebook of the examples', async () => {
    const root = fileURLToPath(new URL('../../../../examples/', import.meta.url))
    const rulebooks = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.ya?ml$/.test(file) && !file.includes('node_modules'))
      .filter((file) => /^domain:/m.test(readFileSync(join(root, file), 'utf8')))
    expect(rulebooks.length).toBeGreaterThanOrEqual(5)
    expect(existsSync(join(root, 'rulebook/shop.yaml'))).toBe(true)
    for (const file of rulebooks) expect([file, await adviseRulebook([join(root, file)])]).toEqual([file, []])
  })
})
