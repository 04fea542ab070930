import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, type Service } from '@sluice/service'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenPage, openPage } from './chromium.test-support.ts'

const ROOT = new URL('../../../', import.meta.url)
const TOKEN = 'the-token-of-the-page'
const RULES = `
domain: shop
limits:
  - name: login
    when: { path: /login }
    key: [ip]
    limit: 4/day
    block: { after: 1000, within: 1h, for: 1h }
  - { name: watched, when: { path: /watched }, key: [user], limit: 2/day, mode: shadow }
  - { name: search, when: { path: /search }, key: ["header:x-api-key"], limit: 100/day }
`

/** Waits until what is shown is as it should be. */
const soon = <T>(shown: () => Promise<T>) => expect.poll(shown, { interval: 100 })

let folder: string
let service: Service
let http: string
let admin: string
let opened: OpenPage
let page: Page

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-dashboard-'))
  writeFileSync(join(folder, 'rules.yaml'), RULES)
  service = createService({
    rules: [folder],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    adminToken: TOKEN,
    idleMs: 0,
    log: { level: 'silent' },
  })
  ;({ http, admin } = await service.start())
  opened = await openPage()
  ;({ page } = opened)
})

afterAll(async () => {
  await opened?.browser.close()
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function send(times: number, request: object): Promise<void> {
  for (let i = 0; i < times; i++) {
    const response = await fetch(`${http}/v1/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ domain: 'shop', request }),
    })
    await response.arrayBuffer()
  }
}

async function metrics(): Promise<string> {
  return (await fetch(`${admin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
}

/** The figures of a limit's row: requests, over it, share. */
async function rowOf(policy: string): Promise<readonly string[]> {
  const row = page
    .locator('#policies tbody tr')
    .filter({ has: page.locator(`th:text-is("${policy}"), th:has-text("${policy}")`) })
  return (await row.first().locator('td.number').allTextContents()).slice(0, 3)
}

const textOf = (selector: string): Promise<string> => shownText(page.locator(selector))
// biome-ignore lint/performance/useDomNodeTextContent: what is shown, with its breaks
const shownText = (locator: Locator): Promise<string> => locator.innerText()

describe('the dashboard, in Chromium', () => {
  test('asks for the token, and shows nothing without it', async () => {
    await page.goto(admin)
    await page.locator('#token input').waitFor()
    await page.locator('#token input').fill('not-the-token-at-all')
    await page.locator('#token button').click()
    await page.locator('#token input').fill(TOKEN)
    await page.locator('#token button').click()
    await page.locator('#health li.good').first().waitFor()
    await soon(() => textOf('#health')).toContain('live')
    expect(await page.locator('#token').isVisible()).toBe(false)
    await soon(() => textOf('#verdict')).toBe('No requests in the last minute. The store (memory) is well.')
  })

  test('shows what was sent: which limit refuses, whom, and whether the store is well', async () => {
    await send(10, { path: '/login', ip: '203.0.113.7' })
    await send(3, { path: '/login', ip: '203.0.113.8' })
    await send(5, { path: '/watched', attributes: { user: 'ada' } })
    await send(7, { path: '/search', headers: { 'x-api-key': 'sk-never-shown' } })
    await soon(() => rowOf('login')).toEqual(['13', '6', '46 %'])
    await soon(() => rowOf('watched')).toEqual(['5', '3', '60 %'])
    await soon(() => rowOf('search')).toEqual(['7', '0', '0 %'])
    for (const sample of [
      'sluice_policy_decisions_total{domain="shop",policy="login",outcome="limited"} 6',
      'sluice_policy_decisions_total{domain="shop",policy="login",outcome="allowed"} 7',
      'sluice_policy_decisions_total{domain="shop",policy="watched",outcome="would_limit"} 3',
      'sluice_requests_total{domain="shop",outcome="denied"} 6',
    ]) {
      expect(await metrics()).toContain(`${sample}\n`)
    }
    expect(await page.locator('#tiles dd span').allTextContents()).toMatchObject([
      '25',
      '6',
      /\d (?:µs|ms)/,
      '0',
    ])
    await soon(() => textOf('#verdict')).toBe(
      'login refused 46 % of its requests in the last minute, most of all from 203.0.113.7. The store (memory) is well.',
    )
    expect(await page.locator('#policies tbody .badge').allTextContents()).toEqual(['shadow'])
    const login = page.locator('#policies tbody tr').first().locator('.strip')
    // Of 13: each quarter of the limit of 4 is reached by one or two requests, and 6 are over it.
    expect(await login.getAttribute('aria-label')).toBe(
      '20–30 % in use: 15 %, 50–60 % in use: 15 %, 70–80 % in use: 15 %, 90–100 % in use: 8 %, over the limit: 46 %',
    )
  })

  test('lists the keys that were refused, and those that came, without secrets', async () => {
    await soon(() => textOf('#denied tbody')).toMatch(
      /^203\.0\.113\.7\s+login\s+\/login\s+6\s+ada\s+watched\s+\/watched\s+3$/,
    )
    const busiest = await textOf('#busiest tbody')
    expect(busiest).toMatch(/^203\.0\.113\.7\s+login\s+10\s/)
    expect(busiest).toMatch(/%h[\da-f]{32}\s+search\s+7/)
    expect(await page.content()).not.toContain('sk-never-shown')
    expect(await textOf('#routes tbody')).toMatch(
      /^\/login\s+login\s+13\s+\/search\s+search\s+7\s+\/watched\s+watched\s+5$/,
    )
    await page.locator('#offender-policy').selectOption({ label: 'watched' })
    await soon(() => textOf('#busiest tbody')).toMatch(/^ada\s+watched\s+5$/)
    await page.locator('#windows button', { hasText: '1 day' }).click()
    await soon(() => textOf('#denied caption')).toBe('Most over the limit, of 3 in all')
    await page.locator('#offender-policy').selectOption('')
    await page.locator('#windows button', { hasText: '5 minutes' }).click()
  })

  test('looks up a key, resets it and blocks it, by keyboard alone', async () => {
    await page.locator('#denied tbody button').first().focus()
    await page.keyboard.press('Enter')
    await soon(() => textOf('#found')).toMatch(/refuses the next request[\s\S]*Limit\s+4\s+Left\s+0/)
    await page.keyboard.press('Tab')
    expect(await shownText(page.locator('*:focus'))).toBe('Reset')
    await page.keyboard.press('Enter')
    await soon(() => textOf('#found')).toMatch(/reset is done[\s\S]*admits the next request[\s\S]*Left\s+4/)
    await page.locator('#found button', { hasText: 'Block for' }).focus()
    await page.keyboard.press('Enter')
    await soon(() => textOf('#found')).toMatch(/blocked[\s\S]*Admits again after\s+(?:10 min|9 min \d+ s)/)
    await send(1, { path: '/login', ip: '203.0.113.7' })
    await soon(metrics).toContain(
      'sluice_policy_decisions_total{domain="shop",policy="login",outcome="limited"} 7\n',
    )
    await page.locator('#found button', { hasText: 'Unblock' }).click()
    await soon(() => textOf('#found')).toMatch(/unblock is done[\s\S]*admits the next request/)
  })

  test('acceptance 6.8: shows what a limit was asked for and admitted, in its busiest second and over time', async () => {
    const before = (await rowOf('search')).join()
    // Together, so that most are in one second.
    const request = { path: '/search', headers: { 'x-api-key': 'sk-another' } }
    await fetch(`${http}/v1/check/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: 150 }, () => ({ domain: 'shop', request }))),
    })
    await soon(async () => (await rowOf('search')).join()).not.toBe(before)
    const busiest = page
      .locator('#policies tbody tr', { hasText: 'search' })
      .first()
      .locator('td.wide')
      .first()
    await page.locator('#traffic-policy').selectOption({ label: 'search' })
    const token = { headers: { authorization: `Bearer ${TOKEN}` } }
    const secondsOf = async (): Promise<readonly (readonly number[])[]> => {
      const answer = await fetch(`${admin}/v1/spikes?domain=shop&policy=search`, token)
      return ((await answer.json()) as { seconds: readonly (readonly number[])[] }).seconds
    }
    const sums = async (): Promise<number[]> => {
      const seconds = await secondsOf()
      return [1, 2, 3].map((column) => seconds.reduce((all, row) => all + row[column]!, 0))
    }
    await soon(sums).toEqual([157, 107, 50]) // those of a second count once it is over
    const [, most, admitted] = (await secondsOf()).reduce((one, other) => (other[1]! > one[1]! ? other : one))
    await soon(() => shownText(busiest)).toBe(`${most} → ${admitted}`)
    // All requests would have those that are admitted as well.
    const caption = async (): Promise<string> => {
      await send(5, { path: '/search', headers: { 'x-api-key': 'sk-another' } })
      await send(5, { path: '/watched', attributes: { user: 'eve' } })
      return textOf('#traffic figcaption')
    }
    await soon(caption).toMatch(/refused\s+[1-9]\d*\s+admitted\s+0\b/)
    await page.locator('#traffic-policy').selectOption('')
    await soon(caption).toMatch(/admitted\s+[1-9]/)
  })

  test('says that the files have a mistake, and that older rules are in force', async () => {
    writeFileSync(join(folder, 'rules.yaml'), RULES.replace('key: [ip]', 'kye: [ip]'))
    await soon(() => textOf('#mistake')).toMatch(/older rules are in force[\s\S]*kye/)
    expect(await textOf('#health li.bad')).toBe('rules: the files have a mistake')
    writeFileSync(join(folder, 'rules.yaml'), RULES)
    await soon(() => page.locator('#mistake').isVisible()).toBe(false)
  })

  test('draws its curves, light and dark, and fits a phone', async () => {
    for (const [width, scheme] of [
      [1180, 'light'],
      [1180, 'dark'],
      [390, 'light'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: scheme })
      const canvases = page.locator('figure canvas')
      await soon(() => canvases.count()).toBe(3)
      // The size is followed at the next frame.
      const wider = `[...document.querySelectorAll('html, section, table, .scroll')].filter((each) => each.scrollWidth > each.clientWidth || each.clientWidth > innerWidth).length`
      await soon(async () => [width, scheme, await page.evaluate(wider)]).toEqual([width, scheme, 0])
      const drawn = `new Set(new Uint32Array(document.querySelector('#traffic canvas').getContext('2d').getImageData(0, 0, 300, 150).data.buffer)).size`
      await soon(() => page.evaluate(drawn)).toBeGreaterThan(3)
    }
  })

  test('keeps to a content security policy without exceptions, and fetches nothing from elsewhere', async () => {
    const response = await fetch(admin)
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/)
    const built = new URL('packages/observe/dist/page/', ROOT)
    for (const file of ['index.html', 'dashboard.js', 'dashboard.css']) {
      expect(readFileSync(new URL(file, built), 'utf8')).not.toMatch(
        /(?:src|href|url|import)\s*[=(]?\s*["']?https?:/,
      )
    }
    expect(opened.faults).toEqual([])
  })
})
