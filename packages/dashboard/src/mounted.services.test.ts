import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rateLimit } from '@sluice/limiter/adapters/express'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { createInstruments, type Dashboard, dashboard } from '@sluice/observe'
import express from 'express'
import type { Page } from 'playwright-core'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenPage, openPage } from './chromium.test-support.ts'

const TOKEN = 'the-token-of-the-app'

/** Waits until what is shown is as it should be. */
const soon = <T>(shown: () => Promise<T>) => expect.poll(shown, { interval: 100 })

const registry = new Registry()
let page: Page
let mounted: Dashboard
let server: Server
let base: string
let opened: OpenPage
/** What it asked for. */
const asked = new Set<string>()

beforeAll(async () => {
  const store = new MemoryStore()
  const instruments = createInstruments({ registry, store })
  const { observe } = instruments
  mounted = dashboard(instruments, { token: TOKEN })
  const app = express()
  app.use('/ops/limits', mounted)
  app.get('/metrics', async (_, response) => void response.send(await registry.metrics()))
  const key = ({ headers }: express.Request) => headers.user as string
  app.use(
    '/login',
    rateLimit({
      name: 'login',
      limit: 4,
      period: '1d',
      block: { after: 1_000, within: '1h', for: '1h' },
      key,
      store,
      observe,
    }),
  )
  app.use(
    '/search',
    rateLimit({ name: 'search', limit: 100, period: '1m', shadow: true, key, store, observe }),
  )
  app.use((_, response) => void response.send('hello'))
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  opened = await openPage()
  ;({ page } = opened)
  page.on('request', (request) => asked.add(new URL(request.url()).pathname))
})

afterAll(async () => {
  await opened?.browser.close()
  mounted?.close()
  server?.close()
})

async function send(times: number, path: string, user: string): Promise<void> {
  for (let i = 0; i < times; i++) await (await fetch(`${base}${path}`, { headers: { user } })).arrayBuffer()
}

/** The figures of a limit's row: requests, over it, share. */
async function rowOf(domain: string): Promise<readonly string[]> {
  const row = page.locator('#policies tbody tr').filter({ hasText: domain })
  return (await row.first().locator('td.number').allTextContents()).slice(0, 3)
}

// biome-ignore lint/performance/useDomNodeTextContent: what is shown, with its breaks
const textOf = (selector: string): Promise<string> => page.locator(selector).innerText()

describe('the dashboard of an app, below a path, in Chromium', () => {
  test('asks for the token, and then shows what was sent', async () => {
    await page.goto(`${base}/ops/limits`)
    await page.locator('#token input').fill(TOKEN)
    await page.locator('#token button').click()
    await soon(() => textOf('#health')).toContain('live')
    await soon(() => textOf('#verdict')).toBe('No requests in the last minute. The store (memory) is well.')
    await send(10, '/login', 'ada')
    await send(2, '/login', 'bob')
    await send(7, '/search', 'ada')
    await soon(() => rowOf('login')).toEqual(['12', '6', '50 %'])
    await soon(() => rowOf('search')).toEqual(['7', '0', '0 %'])
    await soon(() => textOf('#verdict')).toMatch(
      /^login · default refused 50 % of its requests in the last minute, most of all from ada\./,
    )
    await soon(() => textOf('#rulebook')).toMatch(/^Limits in use: 2, since /)
    expect(await textOf('#health')).not.toContain('rules')
    await soon(() => page.locator('#policies tbody .badge').allTextContents()).toEqual(['shadow'])
    const metrics = await (await fetch(`${base}/metrics`)).text()
    expect(metrics).toContain(
      'sluice_policy_decisions_total{domain="login",policy="default",outcome="limited"} 6\n',
    )
    expect(metrics).toContain('sluice_requests_total{domain="search",outcome="allowed"} 7\n')
  })

  test('shows the limits, and whom they refuse; a key is reset and blocked', async () => {
    await soon(() => textOf('#policies tbody')).toMatch(/4 per 1?d[\s\S]*100 per 1?m/)
    await soon(() => textOf('#denied tbody')).toMatch(/^ada\s+login · default\s+6$/)
    await page.locator('#denied tbody button').first().click()
    await soon(() => textOf('#found')).toMatch(/refuses the next request[\s\S]*Limit\s+4\s+Left\s+0/)
    await page.locator('#found button', { hasText: 'Reset' }).click()
    await soon(() => textOf('#found')).toMatch(/reset is done[\s\S]*Left\s+4/)
    await page.locator('#found button', { hasText: 'Block for' }).click()
    await soon(() => textOf('#found')).toMatch(/blocked/)
    expect((await fetch(`${base}/login`, { headers: { user: 'ada' } })).status).toBe(429)
  })

  test('asks for nothing outside its own path, and keeps to its policy', () => {
    expect([...asked].filter((path) => !path.startsWith('/ops/limits'))).toEqual([])
    expect(opened.faults).toEqual([])
  })
})
