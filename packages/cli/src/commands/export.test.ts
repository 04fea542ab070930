import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-export-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const SOUND = file(
  'sound.yaml',
  'domain: shop\nlimits: [{ name: api, key: [ip], limit: 10/second, burst: 20 }]\n',
)
const MIXED = file(
  'mixed.yaml',
  'domain: shop\nlimits:\n  - { name: api, key: [ip], limit: 10/second, burst: 20 }\n  - { name: "a\\\\b", key: [user], limit: 5/minute }\n',
)
const NETWORK = file(
  'network.yaml',
  'domain: net\nnetwork: [{ name: syn, port: 80, key: [ip], limit: 20/second }]\n',
)

describe('sluice export', () => {
  it.each([
    ['nginx', SOUND, 'limit_req zone=sluice_api burst=19 nodelay;'],
    ['haproxy', SOUND, 'http_req_rate(2s)'],
    ['envoy', SOUND, '"max_tokens":20'],
    ['nftables', NETWORK, 'limit rate over 20/second burst 20 packets'],
  ])('writes for %s to standard output', async (target, rules, text) => {
    const { code, out } = await runLine(['export', target, rules])
    expect(code).toBe(0)
    expect(out).toContain(text)
  })

  it('lists what it does not export with the place and the reason; --strict writes nothing then, and exits 1', async () => {
    const line = `${MIXED}:4:5: "a\\\\b" is not exported: it counts by "user", which a proxy cannot read\n`
    const lenient = await runLine(['export', 'nginx', MIXED])
    expect(lenient).toMatchObject({ code: 0, err: line })
    expect(lenient.out).toContain('zone=sluice_api')
    expect(await runLine(['export', 'nginx', MIXED, '--strict'])).toEqual({ code: 1, out: '', err: line })
    expect(await runLine(['export', 'nginx', SOUND, '--strict'])).toMatchObject({ code: 0, err: '' })
  })

  it('a difference is listed, and is no reason for --strict to fail', async () => {
    const { code, err } = await runLine(['export', 'haproxy', SOUND, '--strict'])
    expect(code).toBe(0)
    expect(err).toMatch(/^.*sound\.yaml:2:10: "api" differs: it is a sliding count of 20 in 2s/)
  })

  it.each(['-o', '--output'])(
    '%s replaces a file as a whole, and leaves nothing beside it',
    async (option) => {
      const own = join(folder, `out${option}`)
      mkdirSync(own)
      const path = join(own, 'sluice.conf')
      writeFileSync(path, 'old', { mode: 0o640 })
      const { code, out, err } = await runLine(['export', 'nginx', SOUND, option, path])
      expect({ code, out, err }).toEqual({ code: 0, out: '', err: `written to ${path}\n` })
      const first = readFileSync(path, 'utf8')
      expect(first).toContain('limit_req')
      await runLine(['export', 'nginx', SOUND, option, path])
      expect(readFileSync(path, 'utf8')).toBe(first)
      expect(readdirSync(own)).toEqual(['sluice.conf'])
    },
  )

  it('reads the options of tables, formats and domains', async () => {
    const { out } = await runLine(['export', 'nftables', NETWORK, '--format', 'iptables', '--keys', '500'])
    expect(out).toContain('--hashlimit-htable-max 500')
    const chosen = await runLine(['export', 'nftables', NETWORK, SOUND, '--domain', 'net'])
    expect(chosen).toMatchObject({ code: 0, err: '' })
  })

  it.each([
    [['export'], /name the target, nginx, haproxy, envoy, nftables, and the rules/],
    [['export', 'ngnix', SOUND], /unknown target "ngnix" \(did you mean "nginx"\?\)/],
    [['export', 'nginx'], /name at least one rulebook/],
    [['export', 'nginx', SOUND, '--format', 'iptables'], /nginx has one format only/],
    [['export', 'nftables', NETWORK, '--format', 'iptable'], /did you mean iptables\?/],
    [
      ['export', 'nginx', SOUND, '--keys', '1e3'],
      /--keys must be a whole number from 1 to 10000000, not "1e3"/,
    ],
    [['export', 'nginx', SOUND, NETWORK], /2 domains, shop, net: choose one with --domain/],
    [['export', 'nginx', SOUND, '-o', folder], /it is a folder/],
    [['export', 'nginx', SOUND, '-o', `${folder}/none/x`], /ENOENT/],
  ])('used wrongly, as %j, says how and exits 2', async (argv, message) => {
    const { code, out, err } = await runLine(argv)
    expect(err).toMatch(message)
    expect(err).not.toMatch(/fault of sluice|\n {4}at /)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })
})

describe('a rulebook of network rules alone', () => {
  it('is counted by check, and no log can be replayed through it', async () => {
    expect(await runLine(['check', NETWORK])).toEqual({ code: 0, out: 'net: 1 network rule\nok\n', err: '' })
    const { code, err } = await runLine(['simulate', NETWORK, '--log', '-'])
    expect(code).toBe(2)
    expect(err).toMatch(/net has network rules alone, which no log of requests can be replayed through/)
  })

  it('cannot be served', async () => {
    const { code, err } = await runLine(['serve', NETWORK, '--http', '127.0.0.1:0', '--admin', '127.0.0.1:0'])
    expect(code).toBe(1)
    expect(err).toMatch(/^.*network\.yaml:2:11: network rules alone: the service decides none of them/)
  })
})
