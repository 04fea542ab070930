import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TraceService, traceService } from '../../service/src/trace.test-support.ts'

const RULES = `
domain: nasa
limits:
  - { name: host, key: [ip], limit: 4/minute }
  - { name: images, when: { path: /images/** }, key: [ip], limit: 4/minute, mode: shadow }
  - { name: everyone, key: [], limit: 1000/second }
`
/** Of the log. */
const MINUTES = 20

let service: TraceService
let browser: Browser
let page: Page

beforeAll(async () => {
  service = await traceService(RULES)
  const { launchChromium } = await import(
    new URL('../../../scripts/screenshot/chromium.mjs', import.meta.url).href
  )
  browser = await launchChromium()
  page = await browser.newPage({ viewport: { width: 1180, height: 900 } })
  page.setDefaultTimeout(60_000)
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

/** All samples of /metrics, by name and labels. */
async function metrics(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${service.admin}/metrics`)).text()
  return new Map(
    text
      .split('\n')
      .map((line) => /^([^#].*) (\S+)$/.exec(line))
      .flatMap((found) => (found === null ? [] : [[found[1]!, Number(found[2])] as const])),
  )
}

test('acceptance 6.11: after a real log the first screen says which limit refuses, whom, and that the store is well, by the figures of /metrics', async () => {
  await page.goto(service.admin)
  await page.locator('#health li.good').first().waitFor()
  await service.replay(MINUTES)
  const counted = await metrics()
  const requests = (outcome: string): number =>
    counted.get(`sluice_requests_total{domain="nasa",outcome="${outcome}"}`)!
  const [allowed, denied] = [requests('allowed'), requests('denied')]
  expect(denied).toBeGreaterThan(20)
  const whole = new Intl.NumberFormat('en').format
  const soon = <T>(shown: () => Promise<T>) => expect.poll(shown, { interval: 100 })
  await soon(async () => (await page.locator('#tiles dd span').allTextContents()).slice(0, 2)).toEqual([
    whole(allowed + denied),
    whole(denied),
  ])
  for (const policy of ['host', 'images', 'everyone']) {
    const of = (outcome: string): number =>
      counted.get(`sluice_policy_decisions_total{domain="nasa",policy="${policy}",outcome="${outcome}"}`)!
    const over = of('limited') + of('would_limit')
    const row = page.locator('#policies tbody tr', { hasText: policy }).first().locator('td.number')
    expect([policy, ...(await row.allTextContents()).slice(0, 2)]).toEqual([
      policy,
      whole(over + of('allowed')),
      whole(over),
    ])
  }
  const { lists } = (await (await fetch(`${service.admin}/v1/offenders?policy=host`)).json()) as {
    lists: { denied: { keys: { key: string }[] } }[]
  }
  const [worst] = lists[0]!.denied.keys
  // biome-ignore lint/performance/useDomNodeTextContent: what is shown, with its breaks
  await soon(() => page.locator('#verdict').innerText()).toMatch(
    new RegExp(
      `^host refused \\d+ % of its requests in the last minute, most of all from ${worst!.key}. The store \\(memory\\) is well.$`,
    ),
  )
  // All of that is on the first screen.
  for (const id of ['#health', '#verdict', '#tiles', '#traffic'])
    expect([id, (await page.locator(id).boundingBox())!.y < 900]).toEqual([id, true])
  expect(await page.evaluate('scrollY')).toBe(0)
})
