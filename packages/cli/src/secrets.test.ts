import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { withoutPasswords } from './secrets.ts'
import { runLine } from './testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const NOWHERE = 'redis://:hush@127.0.0.1:1'
const REFUSED = /^sluice: the store does not answer: redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/
const vectors = fileURLToPath(new URL('../../conformance/vectors/worked.json', import.meta.url))
const rules = fileOf('rules.yaml', 'domain: d\nlimits: [{ name: n, key: [api-key], limit: 5/day }]\n')

describe('OF-52: a secret', () => {
  it.each([
    ['the environment', { SLUICE_STORE: NOWHERE }],
    ['a file', { SLUICE_STORE_FILE: fileOf('store', `${NOWHERE}\n`) }],
    ['a file without an end of line', { SLUICE_STORE_FILE: fileOf('bare', NOWHERE) }],
  ])('the URL of a store, is read from %s', async (_from, env) => {
    for (const argv of [
      ['conform', vectors],
      ['conform', vectors, '--store', 'memory'],
    ]) {
      const { err } = await runLine(argv, '', env)
      if (argv.includes('--store')) expect(err).not.toContain('the store')
      else expect(err).toMatch(REFUSED)
    }
  })

  it('with which keys are hashed, is read from the environment or a file', async () => {
    const body = JSON.stringify({ domain: 'd', request: { attributes: { 'api-key': 'k' } } })
    const keyWith = async (env: Record<string, string>): Promise<string> => {
      const { out } = await runLine(['explain', rules, '--request', '-'], body, env)
      return /key +(\S+)/.exec(out)![1]!
    }
    const hashed = await keyWith({ SLUICE_SECRET: 'one' })
    expect(await keyWith({ SLUICE_SECRET_FILE: fileOf('secret', 'one\n') })).toBe(hashed)
    expect(await keyWith({ SLUICE_SECRET: 'two' })).not.toBe(hashed)
  })

  it('on the command line is a warning', async () => {
    const { err } = await runLine(['conform', vectors, '--store', NOWHERE])
    expect(err).toMatch(/all users of this machine can read the password in --store: use SLUICE_STORE/)
    expect(err).not.toContain('hush')
  })

  it.each([
    [{ SLUICE_STORE: 'memory', SLUICE_STORE_FILE: rules }, 'SLUICE_STORE and SLUICE_STORE_FILE are both set'],
    [{ SLUICE_STORE_FILE: fileOf('empty', '\n') }, 'which is empty'],
    [{ SLUICE_STORE_FILE: join(folder, 'none') }, 'there is no such file'],
    [{ SLUICE_STORE: 'redsi://:hush@cache' }, 'no such store'],
  ])('of %j is refused', async (env, reason) => {
    const { code, err } = await runLine(['conform', vectors], '', env)
    expect(code).toBe(2)
    expect(err).toContain(reason)
    expect(err).not.toContain('hush')
  })

  it.each([
    ['serve', NOWHERE],
    ['check', NOWHERE],
    ['conform', NOWHERE],
    ['conform', vectors, '--store', NOWHERE],
    ['conform', vectors, `--stoer=${NOWHERE}`],
    ['conform', vectors, '--store', NOWHERE, '--store', NOWHERE],
    ['serve', '--http', NOWHERE, rules],
    ['serve', '--dialect', NOWHERE, rules],
    [NOWHERE],
    ['version', NOWHERE],
  ])('typed at the wrong place is not repeated: %s', async (...argv) => {
    const { code, err } = await runLine(argv)
    expect(code).toBe(2)
    expect(err).not.toContain('hush')
  })

  it('is left out of any text', () => {
    expect(withoutPasswords('a redis://:x@h, rediss+cluster://u:p:q/r@h:1/2 b')).toBe(
      'a redis://:***@h, rediss+cluster://u:***@h:1/2 b',
    )
    expect(withoutPasswords('see http://h:80/a for b@c')).toBe('see http://h:80/a for b@c')
  })
})
