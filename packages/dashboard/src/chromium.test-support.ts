import type { Browser, Page } from 'playwright-core'

/** A real Chromium with one page, and what the page reports: breaches of its policy, and errors. */
export interface OpenPage {
  readonly browser: Browser
  readonly page: Page
  readonly faults: readonly string[]
}

export async function openPage(): Promise<OpenPage> {
  const script = new URL('../../../scripts/screenshot/chromium.mjs', import.meta.url)
  const { launchChromium } = await import(script.href)
  const browser: Browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width: 1180, height: 1000 } })
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !message.text().includes('401'))
      faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  return { browser, page, faults }
}
