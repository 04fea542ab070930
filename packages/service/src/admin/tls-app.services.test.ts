import { request } from 'node:https'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bytes, type TestAuthority, testAuthority } from '../certificates.test-support.ts'
import { createService } from '../service.ts'
import { rulesFolder } from '../testing.ts'
import type { TlsFiles } from '../tls-files.ts'

const RULES = 'domain: shop\nlimits: [{ name: all, key: [], limit: 5/day }]'

type Pair = Pick<TlsFiles, 'cert' | 'key'>

let authority: TestAuthority
let strangers: TestAuthority
const closing: (() => unknown)[] = []
beforeAll(() => {
  authority = testAuthority()
  strangers = testAuthority()
})
afterAll(() => {
  authority.remove()
  strangers.remove()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(tls: Partial<TlsFiles>, more: object = {}): Promise<{ admin: string; server: Pair }> {
  const folder = await rulesFolder({ 'rules.yaml': RULES })
  const server = authority.issue('sluice')
  const service = createService({
    rules: [folder.path],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    adminTls: { ...server, ...tls },
    idleMs: 0,
    log: { level: 'silent' },
    ...more,
  })
  closing.push(folder.remove, () => service.stop())
  return { admin: (await service.start()).admin, server }
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
}

/** The status, and the name in the server's certificate; an error's code where there is no answer. */
async function ask(admin: string, pair?: Pair, { headers = {}, path = '/v1/rules' }: Asked = {}) {
  const own = pair === undefined ? {} : { cert: bytes(pair.cert), key: bytes(pair.key) }
  return new Promise<readonly [status: number | string, name?: string]>((resolve) => {
    const call = request(new URL(path, admin), { ...own, ca: bytes(authority.ca), agent: false, headers })
    call.once('response', (answer) => {
      const name = (answer.socket as import('node:tls').TLSSocket).getPeerCertificate().subject.CN as string
      answer.resume().once('end', () => resolve([answer.statusCode!, name]))
    })
    call.once('error', (error: NodeJS.ErrnoException) => resolve([error.code ?? error.message]))
    call.end()
  })
}

describe('the admin address with certificates of clients', () => {
  test('answers nobody without one, nor with one of another authority, not even probes', async () => {
    const { admin } = await start({ clientCa: authority.ca })
    expect(admin).toMatch(/^https:/)
    expect(await ask(admin, authority.issue('operator'))).toEqual([200, 'sluice'])
    for (const path of ['/v1/rules', '/healthz', '/metrics', '/']) {
      expect([path, (await ask(admin, undefined, { path }))[0]]).toEqual([path, expect.stringMatching(/^E/)])
      expect([path, (await ask(admin, strangers.issue('operator'), { path }))[0]]).toEqual([
        path,
        expect.stringMatching(/^E/),
      ])
    }
    await expect(fetch(admin.replace('https', 'http'))).rejects.toThrow()
  })

  test('asks for a name in it, and for the token beside it', async () => {
    const { admin } = await start(
      { clientCa: authority.ca, clientName: 'operator' },
      { adminToken: 'a-token-of-operators' },
    )
    const headers = { authorization: 'Bearer a-token-of-operators' }
    expect((await ask(admin, authority.issue('operator'), { headers }))[0]).toBe(200)
    expect((await ask(admin, authority.issue('operator')))[0]).toBe(401)
    expect((await ask(admin, authority.issue('someone'), { headers }))[0]).toBe(403)
  })

  test('is its own origin as https alone', async () => {
    const { admin } = await start({ clientCa: authority.ca })
    const operator = authority.issue('operator')
    const from = async (origin: string) => (await ask(admin, operator, { headers: { origin } }))[0]
    expect(await from(admin)).toBe(200)
    expect(await from(admin.replace('https', 'http'))).toBe(403)
  })

  test('has new certificates on new connections when the files change', async () => {
    const { admin, server } = await start({})
    expect(await ask(admin)).toEqual([200, 'sluice'])
    authority.replace(server, authority.issue('second'))
    await expect.poll(() => ask(admin)).toEqual([200, 'second'])
  })
})

describe('an admin address that other machines reach', () => {
  const admin = '0.0.0.0:0'
  const clientCa = 'a file'
  const make = (more: object) => () => createService({ rules: [], admin, log: { level: 'silent' }, ...more })

  test('needs a token, certificates of clients, or that it is said to be open', () => {
    expect(make({})).toThrow(/admin: other machines reach this address, so it needs a token/)
    expect(make({ admin: ':0' })).toThrow(/needs a token/)
    expect(make({ adminTls: authority.issue('sluice') })).toThrow(/needs a token/)
    expect(make({ adminToken: 'a-token-of-operators' })).not.toThrow()
    expect(make({ adminOpen: true })).not.toThrow()
    expect(make({ adminTls: { ...authority.issue('sluice'), clientCa: authority.ca } })).not.toThrow()
    expect(make({ admin: '[::1]:0' })).not.toThrow()
  })

  test('has no certificates that cannot be used, and no name of certificates that nobody shows', () => {
    expect(make({ adminTls: { ...authority.issue('sluice'), clientCa } })).toThrow(
      /TLS cannot read a file: ENOENT/,
    )
    expect(make({ adminTls: { ...authority.issue('sluice'), clientName: 'ada' }, adminOpen: true })).toThrow(
      /adminTls.clientName has no effect without a clientCa/,
    )
  })
})
