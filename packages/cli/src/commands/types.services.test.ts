import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'types-'))
afterAll(() => rmSync(folder, { recursive: true }))

const HEAD = `
import { createServiceClient } from '@sluice/client/service'
import type { Limits } from './limits.js'
const client = createServiceClient<Limits>({ url: 'http://127.0.0.1:8080' })
const shop = createServiceClient<Limits, 'shop'>({ url: 'http://127.0.0.1:8080', domain: 'shop' })
`
const RIGHT = `${HEAD}
const question = { path: '/login', ip: '192.0.2.1' }
const { policy } = await client.check({ domain: 'shop', request: question })
if (policy === 'login' || policy === '') console.log(policy)
await shop.check({ request: { attributes: { tenant: 'acme', plan: 'pro' }, headers: { 'x-model': 'large' } } })
await shop.check({ domain: 'messaging', descriptors: [{ entries: [{ key: 'to_number', value: '+1' }] }] })
await shop.batch([{ request: question, cost: 2 }, { request: {} }])
const received: Record<string, string> = {}
const { id } = await shop.reserve({ request: { headers: received } }, { ttlMs: 1_000 })
await client.commit(id, { costs: { tokens: 12 } })
const any = createServiceClient({ url: 'http://127.0.0.1:8080', domain: 'anything' })
await any.check({ request: { attributes: { whatever: 1 } } })
await createServiceClient({ url: '' }).check({ domain: 'x', descriptors: [] })
`
const WRONG = [
  `await client.check({ domain: 'shpo', request: {} })`,
  `await client.check({ request: {} })`,
  `await client.check({ domain: 'shop', request: { attributes: { tennant: 'acme' } } })`,
  `await client.check({ domain: 'shop', request: { headers: { 'x-modle': 'large' } } })`,
  `await client.check({ domain: 'shop', request: { pth: '/login' } })`,
  `await client.check({ domain: 'messaging', descriptors: [{ entries: [{ key: 'to_nubmer', value: '' }] }] })`,
  `await client.check({ domain: 'shop', request: {}, descriptors: [] })`,
  `await shop.check({ request: { attributes: { tennant: 'acme' } } })`,
  `await shop.check({ request: {} }, { onEror: 'open' })`,
  `await shop.commit('id', { costs: { tokns: 12 } })`,
  `if ((await shop.check({ request: {} })).policy === 'logn') throw new Error()`,
  `if ((await client.peek({ domain: 'shop', request: {} })).policy === 'to_number') throw new Error()`,
  `createServiceClient<Limits, 'shop'>({ url: '', domain: 'auth' })`,
  `const part: Limits['shop']['limits']['login'] = 'user'`,
]

/** What the compiler says of a program: a line for each mistake. */
async function compile(text: string): Promise<readonly string[]> {
  writeFileSync(join(folder, 'main.ts'), text)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noEmit',
    '--skipLibCheck',
    'false',
    '--ignoreConfig',
  ]
  const target = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom', '--types', '']
  try {
    await promisify(execFile)(process.execPath, [tsc, ...strict, ...target, 'main.ts'], { cwd: folder })
    return []
  } catch (error) {
    return (error as { stdout: string }).stdout.split('\n').filter((line) => /\berror TS/.test(line))
  }
}

describe('a client typed by sluice types', () => {
  beforeAll(async () => {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const { out } = await runLine(['types', join(root, 'examples/rulebook')])
    writeFileSync(join(folder, 'limits.d.ts'), out)
  })

  it('compiles where the names are right', async () => {
    expect(await compile(RIGHT)).toEqual([])
  })

  it('does not compile where one is misspelt', async () => {
    const lines = WRONG.map((line) => `${line}\n`)
    const mistakes = await compile(HEAD + lines.join(''))
    const first = HEAD.split('\n').length
    const found = mistakes.map((line) => Number(/^main\.ts\((\d+),/.exec(line)?.[1]) - first)
    expect([...new Set(found)]).toEqual(WRONG.map((_, i) => i))
  })
})
