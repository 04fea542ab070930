import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProxy } from '../packages/limiter/src/stores/redis/proxy.test-support.ts'
import { ROOT } from './page.ts'

/** What a newcomer does wrong first, and the words that answer it. Each is run as a user would, from the built packages. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-first-'))
let taken: Server
beforeAll(async () => {
  mkdirSync(join(folder, 'node_modules/@sluice'), { recursive: true })
  symlinkSync(join(ROOT, 'packages/limiter'), join(folder, 'node_modules/@sluice/limiter'))
  symlinkSync(join(ROOT, 'node_modules/express'), join(folder, 'node_modules/express'))
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  taken.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** @param until what standard error has when the program is to be ended */
function run(argv: readonly string[], until?: RegExp): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { cwd: folder, env: { PATH: process.env.PATH } })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
      if (until?.test(err)) child.kill('SIGTERM')
    })
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

const sluice = (argv: readonly string[], until?: RegExp): Promise<Ended> =>
  run([join(ROOT, 'packages/cli/bin/sluice.js'), ...argv], until)

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

const LIMITER = "import { createLimiter } from '@sluice/limiter'\n"
const EXPRESS = "import { rateLimit } from '@sluice/limiter/adapters/express'\n"
const POLICY = "algorithm: 'fixed-window', limit: 5"

describe('in a program', () => {
  test.each([
    [`${EXPRESS}rateLimit()`, 'an object with limit and period, such as { limit: 100, period: "15m" }'],
    [
      `${EXPRESS}rateLimit({})`,
      'give one of limit, policies, limiter and rules, not none; for example { limit: 100, period: "15m" }',
    ],
    [
      `${EXPRESS}rateLimit({ limit: 5 })`,
      'give the period of the limit, in milliseconds or as text such as 15m',
    ],
    [
      `${LIMITER}createLimiter()`,
      'an object with policies, such as { policies: { api: { algorithm: "token-bucket", limit: 10, period: "1s" } } }',
    ],
    [
      `${LIMITER}createLimiter({})`,
      'policies must be given: an object with a policy for each name, such as { api: { algorithm: "token-bucket", limit: 10, period: "1s" } }',
    ],
    [
      `${LIMITER}createLimiter({ ${POLICY}, period: '1m' })`,
      'no option is named "algorithm": it belongs in a policy: { policies: { api: { … } } }',
    ],
    [
      `${LIMITER}createLimiter({ policies: { login: { ${POLICY} } } })`,
      'policies.login.period must be given: a duration: milliseconds above 0, or text like 500ms, 10s, 5m, 3h, 1d, 2w or a calendar period, such as { calendar: "day" }',
    ],
    [
      `${LIMITER}createLimiter({ policies: { login: { ${POLICY}, period: '1 month' } } })`,
      'policies.login.period: "1 month" is not a duration: a month has no fixed length; write days, such as 30d, or as a period { calendar: "month" }',
    ],
    [
      `${EXPRESS}rateLimit({ limit: 5, period: '1m', dialect: 'draft-8' })`,
      'dialect: no dialect is named "draft-8"; did you mean ietf, for drafts 8 to 11?',
    ],
    [
      `${EXPRESS}rateLimit({ limit: 5, period: '1m', dialect: 'draft-7' })`,
      'dialect: no dialect is named "draft-7"; did you mean draft-07?',
    ],
  ])('%s', async (program, words) => {
    const { code, err } = await run([write('program.mjs', program)])
    expect(code).toBe(1)
    expect(err).toContain(`ConfigError: `)
    expect(err).toContain(words)
  })

  test('the period of { calendar: "month" } that an error names is one', async () => {
    const program = `${LIMITER}createLimiter({ policies: { login: { ${POLICY}, period: { calendar: 'month' } } } })`
    expect(await run([write('program.mjs', program)])).toMatchObject({ code: 0, err: '' })
  })

  test('a proxy that is not named is a warning with a page that can be opened', async () => {
    const program = `${EXPRESS}import express from 'express'
const app = express()
app.use(rateLimit({ limit: 5, period: '1m' }))
app.get('/', (_, response) => response.end())
const server = app.listen(0, '127.0.0.1', async () => {
  await fetch('http://127.0.0.1:' + server.address().port, { headers: { 'x-forwarded-for': '192.0.2.1' } })
  server.close()
})`
    const { code, err } = await run([write('program.mjs', program)])
    expect(code).toBe(0)
    expect(err).toContain(
      'requests carry x-forwarded-for, which is ignored, since trustProxy is not set: all clients behind one proxy count as one caller; see https://github.com/sluice-limiter/sluice/blob/main/docs/frameworks/README.md#behind-a-proxy',
    )
  })
})

describe('in a rulebook', () => {
  test.each([
    ['key: ip', 'limit: 5/minute', '4:10: "key" must be a list, not "ip": write [ip]'],
    ['key: [ip]', 'limit: 5', 'must be COUNT/PERIOD, such as 5/minute'],
    [
      'key: [ip]',
      'limit: 5/month',
      'a month has no fixed length: write days, such as 30d, or a calendar period',
    ],
    [
      'key: [ip]',
      'limit: 5/1 month',
      'a month has no fixed length: write days, such as 30d, or a calendar period',
    ],
    ['key: [ip]', 'limits: 5/minute', 'unknown field "limits" (did you mean "limit"?)'],
  ])('%s, %s', async (key, limit, words) => {
    const rulebook = `domain: d\nlimits:\n  - name: n\n    ${key}\n    ${limit}\n`
    const { code, err } = await sluice(['check', write('shop.yaml', rulebook)])
    expect(code).toBe(1)
    expect(err).toContain('shop.yaml:')
    expect(err).toContain(words)
  })
})

describe('on the command line', () => {
  const rules = (): string =>
    write('rules.yaml', 'domain: d\nlimits: [{ name: n, key: [], limit: 5/minute }]\n')
  const addresses = ['--http', '127.0.0.1:0', '--admin', '127.0.0.1:0']

  test('serve without a rulebook', async () => {
    const { code, err } = await sluice(['serve'])
    expect([code, err]).toEqual([
      2,
      'sluice: there is no rulebook.yaml here: name your rulebook, as in sluice serve FILE\nSee sluice serve --help.\n',
    ])
  })

  test.each(['http', 'admin'])('a port in use for --%s', async (option) => {
    const { port } = taken.address() as { port: number }
    const address = `127.0.0.1:${port}`
    const other = option === 'http' ? 'admin' : 'http'
    const argv = ['serve', rules(), `--${option}`, address, `--${other}`, '127.0.0.1:0']
    const { code, err } = await sluice(argv)
    expect([code, err]).toEqual([
      2,
      `sluice: --${option}: cannot listen at ${address}: another program listens there (EADDRINUSE); choose another address\nSee sluice serve --help.\n`,
    ])
  })

  test('a Redis that refuses, or says nothing', async () => {
    const { port } = taken.address() as { port: number }
    const mute = await startProxy(port)
    mute.losesAnswers = true
    for (const [at, cause] of [
      ['127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
      [`127.0.0.1:${mute.port}`, ''],
    ] as const) {
      const argv = ['serve', rules(), ...addresses, '--store-file', write('store', `redis://:hush@${at}`)]
      const { code, err } = await sluice(argv, /\/v1\/rules\n/)
      expect(code).toBe(0)
      expect(err).toContain(`sluice: the store does not answer: redis://${at}: ${cause}`)
      expect(err).toContain('Until it does, on_store_error of each rule decides.')
      expect(err).not.toMatch(/hush|\n {4}at /)
    }
    await mute.close()
  })

  test('a log of JSON in simulate', async () => {
    const log = write('log.json', '{"time":"2026-01-01T00:00:00Z","ip":"192.0.2.1","path":"/"}\n'.repeat(3))
    const { code, out, err } = await sluice(['simulate', rules(), log])
    expect(code).toBe(2)
    expect(out).toContain('line 1: it is JSON')
    expect(err).toMatch(/^sluice: no line of log\.json can be read\. It is JSON: say where it has the time/)
    expect(err).toContain(
      'Read are access logs of Apache, nginx, Caddy, Traefik, Envoy, HAProxy, IIS and AWS',
    )
  })

  test('a log of some other kind in simulate', async () => {
    const { code, err } = await sluice(['simulate', rules(), write('log.txt', 'hello\n')])
    expect([code, err.split('\n')[0]]).toEqual([2, 'sluice: no line of log.txt can be read.'])
  })

  test.each([
    ['serev', 'unknown command "serev" (did you mean "serve"?)'],
    ['serve --prot 80', 'unknown option "--prot"'],
    ['serve --http 8080', '--http: "8080" is not an address: write HOST:PORT, such as 127.0.0.1:8080'],
    ['serve --store redis:6379', '--store: no such store: write memory (default), or redis://HOST:PORT/DB'],
  ])('sluice %s', async (line, words) => {
    const { code, err } = await sluice(line.split(' '))
    expect(code).toBe(2)
    expect(err).toContain(words)
  })
})
