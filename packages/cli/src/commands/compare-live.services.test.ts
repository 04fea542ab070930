import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService } from '@sluice/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-live-'))
const rules = join(folder, 'rules.yaml')
writeFileSync(
  rules,
  `domain: shop
limits:
  - { name: login, key: [ip], limit: 5/365d, algorithm: fixed-window }
  - { name: stricter, key: [ip], limit: 3/365d, algorithm: fixed-window, mode: shadow }
`,
)
writeFileSync(
  join(folder, 'messages.yaml'),
  `domain: messaging
descriptors:
  - { key: to, rate_limit: { period: 365d, requests_per_unit: 1 }, shadow_mode: true }
`,
)
const TOKEN = 'a-token-for-the-test'
const env = { SLUICE_ADMIN_TOKEN: TOKEN }
const service = createService({
  rules: [folder],
  http: '127.0.0.1:0',
  admin: '127.0.0.1:0',
  adminToken: TOKEN,
  idleMs: 0,
  watch: false,
  log: { level: 'silent' },
})
let admin = ''

beforeAll(async () => {
  const addresses = await service.start()
  admin = addresses.admin
  const ask = async (body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    await fetch(`${addresses.http}/v1/check`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  for (let i = 0; i < 7; i++) await ask({ domain: 'shop', request: { ip: '203.0.113.7' } })
  await ask({ domain: 'shop', request: { ip: '203.0.113.8' } })
  const descriptors = [{ entries: [{ key: 'to', value: '+49' }] }]
  for (let i = 0; i < 3; i++) await ask({ domain: 'messaging', descriptors })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const compare = (...argv: string[]) => runLine(['compare', '--live', admin, ...argv], '', env)

describe('sluice compare --live (Acceptance 15.6)', () => {
  it('says how rules in shadow mode would have decided beside the others: how many, who, since when', async () => {
    const { code, out, err } = await compare('--min-data', '0')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const since = '20\\d\\d-\\d\\d-\\d\\dT\\S+Z'
    expect(out).toMatch(new RegExp(`shop: rules in force since ${since}, 0\\.0 h`))
    expect(out).toMatch(/rule +mode +requests +refused, or would be\n/)
    expect(out).toMatch(/login +live +8 +2 \(25\.00 %\)\n/)
    expect(out).toMatch(/stricter +shadow +8 +4 \(50\.00 %\)\n/)
    expect(out).toMatch(/Most over stricter, of the last day:\n {2}203\.0\.113\.7 +4\n/)
    expect(out).toMatch(/to +shadow +3 +2 \(66\.67 %\)\n/)
  })

  it('says it as Markdown and as JSON', async () => {
    const { out } = await compare('--min-data', '0', '--format', 'markdown')
    expect(out).toContain('## Rules in shadow mode, of `shop`')
    expect(out).toMatch(/\| `stricter` +\| shadow \| +8 \| +4 \(50\.00 %\) \|/)
    expect(out).toMatch(/\| `203\.0\.113\.7` +\| +4 \|/)
    const report = JSON.parse((await compare('--min-data', '0', '--format', 'json')).out)
    expect(report.domains.find(({ domain }: { domain: string }) => domain === 'shop')).toMatchObject({
      policies: [
        { policy: 'login', shadow: false, requests: 8, denied: 2 },
        {
          policy: 'stricter',
          shadow: true,
          requests: 8,
          denied: 4,
          keys: [{ key: '203.0.113.7', denied: 4 }],
        },
      ],
    })
  })

  it('adds up the figures of several services', async () => {
    const { out } = await compare('--live', admin, '--min-data', '0')
    expect(out).toMatch(/stricter +shadow +16 +8 \(50\.00 %\)\n/)
  })

  it('exits with 1 while there are less than 48 hours of data', async () => {
    const { code, out, err } = await compare()
    expect(code).toBe(1)
    expect(out).toContain('stricter')
    expect(err).toContain('sluice: shop has 0.0 h of data, less than --min-data 48h\n')
  })

  it.each([
    [
      ['--live', 'ADMIN', rules],
      env,
      /it takes no rules, no log, and no options but --min-data and --format/,
    ],
    [['--live', 'ADMIN', '--jobs', '2'], env, /it takes no rules, no log, and no options but/],
    [['--live', 'ADMIN', '--min-data', 'soon'], env, /--min-data must be a duration such as 48h/],
    [['--live', 'ADMIN'], {}, /asks for its token: set SLUICE_ADMIN_TOKEN/],
    [['--live', '127.0.0.1:1'], env, /does not answer: is it the admin address/],
    [['--live', 'http://['], env, /is no address/],
    [[rules, rules, '--min-data', '1h'], env, /are for --live ADDRESS/],
  ])('exits 2 for %j', async (argv, variables, message) => {
    const { code, err } = await runLine(
      ['compare', ...argv.map((each) => (each === 'ADMIN' ? admin : each))],
      '',
      variables,
    )
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })
})
