import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bench, type ServiceBench } from '../../service/src/testing.ts'

const ROOT = new URL('../../../', import.meta.url)
/** Those that are for programs of one platform, or for another library. */
const NOT_EVERYWHERE = ['./undici', './axios', './testing']

const { exports } = JSON.parse(readFileSync(new URL('packages/client/package.json', ROOT), 'utf8'))
const subpaths = Object.keys(exports).filter((subpath) => !NOT_EVERYWHERE.includes(subpath))

/** The built package as one file, with all that it imports. */
async function bundled(contents: string, globalName?: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: new URL('packages/client', ROOT).pathname },
    bundle: true,
    write: false,
    metafile: true,
    format: globalName === undefined ? 'esm' : 'iife',
    ...(globalName !== undefined && { globalName }),
    platform: 'neutral',
    conditions: ['module', 'import'],
  })
  const outside = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect(outside).toEqual([])
  return outputFiles[0]!.text
}

describe('the client as it is built', () => {
  it.each(subpaths)(
    'Acceptance 4.11: %s imports nothing of Node, and nothing but @sluice/limiter',
    async (subpath) => {
      const text = await bundled(`export * from '@sluice/client${subpath.slice(1)}'`)
      expect(text).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/)
    },
  )
})

describe('in Chromium', () => {
  let service: ServiceBench
  // biome-ignore lint/suspicious/noExplicitAny: the launcher is a script
  let browser: any
  let url = ''
  const script = bundled(`export { createServiceClient } from '@sluice/client/service'`, 'sluice')
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html').end(`<!doctype html><script>${await script}</script>`)
      return
    }
    let payload = ''
    for await (const part of request.setEncoding('utf8')) payload += part
    const headers = { 'content-type': String(request.headers['content-type']) }
    const answer = await service.http.inject({ method: 'POST', url: request.url!, payload, headers })
    response.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) })
    response.end(answer.payload)
  })

  beforeAll(async () => {
    service = await bench('domain: shop\nlimits: [{ name: all, key: [ip], limit: 2/day }]\n')
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { launchChromium } = await import(new URL('scripts/screenshot/chromium.mjs', ROOT).href)
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    server.closeAllConnections()
    server.close()
    await service?.close()
  })

  it('asks the service, and does without it', async () => {
    const page = await browser.newPage()
    await page.goto(url)
    const found = await page.evaluate(`(async () => {
      const question = { request: { ip: '192.0.2.1' } }
      const client = sluice.createServiceClient({ url: location.origin, domain: 'shop', deadlineMs: 20_000 })
      const answers = await Promise.all([1, 2, 3].map(() => client.check(question)))
      const { id } = await client.reserve({ request: { ip: '192.0.2.2' } })
      const down = sluice.createServiceClient({ url: 'http://127.0.0.1:1', domain: 'shop', onError: 'closed' })
      return [answers.map(({ allowed }) => allowed), await client.cancel(id), (await down.check(question)).status]
    })()`)
    expect(found).toEqual([[true, true, false], true, 503])
  })
})
