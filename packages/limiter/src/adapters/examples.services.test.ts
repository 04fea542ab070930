import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../free-port.test-support.ts'

const ROOT = join(import.meta.dirname, '../../../..')

/** Starts an example as a user would, on a free port, and stops it after the body. */
async function started(file: string, body: (url: string) => Promise<void>): Promise<void> {
  const env = { ...process.env, PORT: '0', TARPIT: '1ms', TRUST_PROXY: '127.0.0.1' }
  const server = spawn(process.execPath, [join(ROOT, 'examples', file)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    await body(await urlOf(server, file))
  } finally {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  }
}

function urlOf(server: ReturnType<typeof spawn>, file: string): Promise<string> {
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (text: string): void => {
      printed += text
      const [, port] = /(?:port: |http:\S+:)(\d+)\s/.exec(printed) ?? []
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
    }
    server.stdout!.setEncoding('utf8').on('data', read)
    server.stderr!.setEncoding('utf8').on('data', read)
    server.on('exit', () =>
      reject(new Error(`examples/${file} did not start; has \`npm run build\` been run?\n${printed}`)),
    )
  })
}

/** Runs nginx in front of an address, by the example's configuration with `change` applied. */
async function behindNginx(
  app: string,
  change: (config: string) => string,
  body: (url: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const url = `http://127.0.0.1:${await freePort()}`
  const config = readFileSync(join(ROOT, 'examples/nginx/nginx.conf'), 'utf8')
    .replace('127.0.0.1:8000', new URL(url).host)
    .replace('http://127.0.0.1:3000', app)
  writeFileSync(join(folder, 'nginx.conf'), change(config))
  const options = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', `daemon off; pid ${folder}/pid;`]
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  const nginx = spawn('nginx', options, { env, stdio: 'inherit' })
  const ended = new Promise<string>((resolve) => {
    nginx.once('error', ({ message }) => resolve(`${message}; is nginx on PATH?`))
    nginx.once('exit', (code) => resolve(`nginx ended with ${code}`))
  })
  try {
    while (!(await fetch(url).catch(() => undefined))) {
      const problem = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))])
      if (typeof problem === 'string') throw new Error(problem)
    }
    await body(url)
  } finally {
    nginx.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

// As `any`: what the examples answer is theirs to say.
const json = async (response: Response) => JSON.parse(await response.text())

async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await ask()).status)
  return statuses
}

describe('the examples', () => {
  for (const name of ['express', 'node', 'fastify', 'koa', 'hono', 'fetch']) {
    it(`${name} starts, and limits`, () =>
      started(`${name}/server.js`, async (url) => {
        const response = await fetch(url)
        expect(response.status).toBe(200)
        expect(response.headers.get('ratelimit-policy')).toBe('"default";q=100;w=900')
        expect(response.headers.get('ratelimit')).toMatch(/^"default";r=99;t=\d+$/)
        expect([{ hello: 'world' }, 99]).toContainEqual(
          (({ remaining, ...body }) => remaining ?? body)(await json(response)),
        )
      }))
  }

  it('express counts failed logins alone', () =>
    started('express/server.js', async (url) => {
      const login = (password: string) => () => post(`${url}/login`, { password })
      expect(await statuses(3, login('open sesame'))).toEqual([200, 200, 200])
      expect(await statuses(6, login('guess'))).toEqual([401, 401, 401, 401, 401, 429])
    }))

  it('fastify limits by route, by API key and by group', () =>
    started('fastify/server.js', async (url) => {
      const pay = (apiKey: string) => () =>
        fetch(`${url}/pay`, { method: 'POST', headers: { 'x-api-key': apiKey } })
      expect(await statuses(4, pay('1'))).toEqual([200, 200, 200, 429])
      expect(await statuses(1, pay('2'))).toEqual([200])
      expect(await statuses(2, () => fetch(`${url}/code/send`))).toEqual([200, 200])
      expect(await statuses(1, () => fetch(`${url}/code/check`))).toEqual([429])
      expect((await fetch(`${url}/health`)).headers.get('ratelimit')).toBeNull()
    }))

  it('nest compiles, starts, and limits', () => {
    execFileSync(process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      '-p',
      join(ROOT, 'examples/nest'),
    ])
    return started('nest/dist/server.js', async (url) => {
      expect((await fetch(url)).headers.get('ratelimit')).toMatch(/^"default";r=99;t=\d+$/)
      expect(await statuses(6, () => post(`${url}/login`, {}))).toEqual([201, 201, 201, 201, 201, 429])
      expect((await fetch(`${url}/health`)).headers.get('ratelimit')).toBeNull()
    })
  })

  it('websocket answers, and closes on whoever sends too much', () =>
    started('websocket/server.js', async (url) => {
      const socket = new WebSocket(url.replace('http', 'ws'))
      await once(socket, 'open')
      let answers = 0
      socket.on('message', () => answers++)
      for (let i = 0; i < 60; i++) socket.send('hello')
      const [code] = await once(socket, 'close')
      expect(code).toBe(1008)
      expect(answers).toBeGreaterThanOrEqual(20)
    }))

  it('graphql charges what is asked for', () =>
    started('graphql/server.js', async (url) => {
      const ask = async (first: number) =>
        json(await post(url, { query: `{ users(first: ${first}) { name } }` }))
      expect((await ask(400)).data.users).toHaveLength(400)
      expect((await ask(700)).errors[0]).toMatchObject({ extensions: { code: 'RATE_LIMITED' } })
    }))

  it('app limits logins, searches and plans, each its own way', () =>
    started('app/server.js', async (url) => {
      const login = (user: string, password: string) => () => post(`${url}/login`, { user, password })
      expect(await statuses(6, login(' Ada', 'guess'))).toEqual([401, 401, 401, 401, 401, 429])
      expect(await statuses(2, login('bob', 'open sesame'))).toEqual([200, 200])
      const blocked = await statuses(3, login('ada', 'open sesame'))
      expect(blocked).toEqual([429, 429, 429])
      expect(Number((await login('ada', 'open sesame')()).headers.get('retry-after'))).toBeGreaterThan(600)

      const searches: boolean[] = []
      for (let i = 0; i < 9; i++) searches.push((await json(await fetch(`${url}/search?q=x`))).captcha)
      expect([searches[0], searches.at(-1)]).toEqual([false, true])

      const api = async (key?: string) =>
        json(await fetch(`${url}/api`, key ? { headers: { 'x-api-key': key } } : {}))
      expect([await api('key of Bob'), await api('key of Ada'), await api()]).toEqual([
        { limit: 1_000, remaining: 999 },
        { limit: 10, remaining: 9 },
        { limit: 3, remaining: 2 },
      ])
    }))
  it('app does not lock an owner out, however often others fail for the account', () =>
    started('app/server.js', async (url) => {
      const login = (from: string, body: object) => () =>
        post(`${url}/login`, { user: 'ada', ...body }, { 'x-forwarded-for': from })
      for (let attacker = 1; attacker <= 10; attacker++)
        expect(await statuses(9, login(`203.0.113.${attacker}`, { password: 'guess' }))).not.toContain(200)

      const owner = { password: 'open sesame', captcha: 'solved' }
      expect(await statuses(1, login('198.51.100.20', { ...owner, captcha: '' }))).toEqual([403])
      expect(await statuses(20, login('198.51.100.20', owner))).toEqual(Array(20).fill(200))
      expect(await statuses(1, login('198.51.100.21', { user: 'bob', password: 'open sesame' }))).toEqual([
        200,
      ])
    }))

  it('app limits one address that tries many accounts', () =>
    started('app/server.js', async (url) => {
      const codes: number[] = []
      for (let i = 0; i < 21; i++)
        codes.push((await post(`${url}/login`, { user: `user ${i}`, password: 'guess' })).status)
      expect(codes).toEqual([...Array(20).fill(401), 429])
    }))
  it('nginx appends the address, so that a forged one does not count', () =>
    started('app/server.js', async (app) => {
      // The app refuses 198.51.100.7 with 403. The client's own address is not the proxy's.
      const forged = async (url: string) => {
        const options = { localAddress: '127.0.0.2', headers: { 'x-forwarded-for': '198.51.100.7' } }
        const [response] = await once(get(`${url}/search?q=x`, options), 'response')
        response.resume()
        return response.statusCode
      }
      await behindNginx(
        app,
        (config) => config,
        async (url) => expect(await forged(url)).toBe(200),
      )
      const withoutHeader = (config: string) => config.replace(/proxy_set_header .*/, '')
      await behindNginx(app, withoutHeader, async (url) => expect(await forged(url)).toBe(403))
    }))
})
