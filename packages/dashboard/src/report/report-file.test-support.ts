import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type OpenPage, openPage } from '../chromium.test-support.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

export const TRACE: string = join(ROOT, 'packages/lab/fixtures/traces/apache-combined-2015.log.gz')
/** Text that would run if a page took it for its own. */
export const HOSTILE = "</script><script>document.title='run'</script><!--<img src='https://evil.example/x'>"

/** A report that is made by the command line, and opened from the disk. */
export class ReportFile {
  readonly page: Page
  readonly #opened: OpenPage
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  readonly #asked: string[] = []

  private constructor(opened: OpenPage) {
    this.#opened = opened
    this.page = opened.page
    this.page.on('request', (request) => this.#asked.push(request.url()))
  }

  static async open(): Promise<ReportFile> {
    return new ReportFile(await openPage())
  }

  async close(): Promise<void> {
    await this.#opened.browser.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  write(name: string, text: string): string {
    const path = join(this.#folder, name)
    writeFileSync(path, text)
    return path
  }

  /** Runs a command as a user would, opens the page, and returns what was printed as JSON. */
  async make<Json>(...command: string[]): Promise<Json> {
    const line = [...command, '--format', 'json', '--report', this.#path]
    const { status, stdout, stderr } = spawnSync(
      'node',
      [join(ROOT, 'packages/cli/bin/sluice.js'), ...line],
      { encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([0, ''])
    await this.page.goto(pathToFileURL(this.#path).href)
    await this.page.locator('table.figures').first().waitFor()
    return JSON.parse(stdout)
  }

  /** The figures in the page. */
  embedded<Figures>(): Figures {
    const [, text] = /<script type="application\/json" id="figures">(.*?)<\/script>/s.exec(this.#text)!
    return JSON.parse(text!)
  }

  texts(selector: string): Promise<string[]> {
    return this.page.locator(selector).allTextContents()
  }

  /** Every chart is drawn, light and dark, on a screen, on a phone and on paper, and nothing is cut off. */
  async isWholeEverywhere(): Promise<void> {
    const { page } = this
    const colors = `[...document.querySelectorAll('.chart canvas')].map((canvas) => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)`
    const wider = `[...document.querySelectorAll('html, section, figure, table, #facts')].filter((each) => each.scrollWidth > each.clientWidth + 1 || each.clientWidth > innerWidth).length`
    for (const [width, scheme] of [
      [1180, 'light'],
      [1180, 'dark'],
      [390, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: scheme })
      await expect
        .poll(async () => Math.min(...((await page.evaluate(colors)) as number[])))
        .toBeGreaterThan(3)
      const charts = await page.locator('.chart').count()
      expect(await page.locator('.chart canvas').count()).toBe(charts)
      expect([width, scheme, await page.evaluate(wider)]).toEqual([width, scheme, 0])
      expect((await page.screenshot({ fullPage: true })).length).toBeGreaterThan(20_000)
    }
    await page.emulateMedia({ media: 'print' })
    expect((await page.pdf()).subarray(0, 4).toString()).toBe('%PDF')
    await page.emulateMedia({ media: 'screen' })
  }

  /** Nothing but the file was asked for, and its policy lets nothing else in. */
  async isAlone(): Promise<void> {
    expect(new Set(this.#asked)).toEqual(new Set([pathToFileURL(this.#path).href]))
    // Tests read pixels, of which Chromium warns.
    expect(this.#opened.faults.filter((fault) => !fault.startsWith('Canvas2D'))).toEqual([])
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(this.#text)!
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'$/,
    )
    await expect(this.page.evaluate(`fetch('https://example.com')`)).rejects.toThrow()
  }

  get #path(): string {
    return join(this.#folder, 'report.html')
  }

  get #text(): string {
    return readFileSync(this.#path, 'utf8')
  }
}
