import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const EXAMPLES = fileURLToPath(new URL('../../../../examples/rulebook/', import.meta.url))
let folder: string
let path: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-advise-'))
  path = join(folder, 'rules.yaml')
  writeFileSync(path, 'domain: d\nlimits: [{ name: login, key: [ip], limit: 5/minute }]\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('Acceptance 15.5: sluice advise', () => {
  it('names the place, the reason, and what to write instead', async () => {
    const { code, out, err } = await runLine(['advise', path])
    expect([code, err]).toEqual([0, ''])
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/rules\.yaml:2:10: login: while the store is down the limit is off/)
    expect(lines[1]).toMatch(/^ {2}instead: on_store_error: closed/)
    expect(lines[2]).toMatch(/rules\.yaml:2:18: login: "login" is the only limit/)
  })

  it('exits 1 with --strict when there is any', async () => {
    expect((await runLine(['advise', path, '--strict'])).code).toBe(1)
    expect(await runLine(['advise', EXAMPLES, '--strict'])).toEqual({ code: 0, out: 'no advice\n', err: '' })
  })

  it('says the same as JSON', async () => {
    const { out } = await runLine(['advise', path, '--format', 'json'])
    expect(JSON.parse(out)).toEqual({
      advice: [
        {
          file: path,
          line: 2,
          column: 10,
          kind: 'open-login',
          rule: 'login',
          reason: expect.any(String),
          instead: expect.any(String),
        },
        expect.objectContaining({ kind: 'one-limit-for-all-routes' }),
      ],
    })
  })

  it('needs rules without mistakes', async () => {
    expect(await runLine(['advise'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('name at least one'),
    })
    writeFileSync(join(folder, 'wrong.yaml'), 'domain: d\nlimits: [{ name: a, kye: [], limit: 5/minute }]\n')
    expect(await runLine(['advise', join(folder, 'wrong.yaml')])).toMatchObject({
      out: '',
      err: expect.stringContaining('kye'),
    })
  })
})
