import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { SimulationReport, TrafficFigures } from '@sluice/lab'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenPage, openPage } from '../chromium.test-support.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const TRACE = join(ROOT, 'packages/lab/fixtures/traces/apache-combined-2015.log.gz')
const RULES = `
domain: blog
limits:
  - { name: client, key: [ip], limit: 20/minute, algorithm: sliding-window-counter }
  - { name: everyone, key: [], limit: 2/second, burst: 60 }
  - { name: images, when: { path: "/images/**" }, key: [ip], limit: 5/minute, mode: shadow }
  - { name: admin, when: { path: /admin }, key: [ip], limit: 5/minute }
`
const HOSTILE = "</script><script>document.title='run'</script><!--<img src='https://evil.example/x'>"

let folder: string
let opened: OpenPage
let page: Page
const asked: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  opened = await openPage()
  ;({ page } = opened)
  page.on('request', (request) => asked.push(request.url()))
})

afterAll(async () => {
  await opened?.browser.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Simulates as a user would, opens the page, and returns what the command printed as JSON. */
async function report(rules: string, log: string): Promise<SimulationReport> {
  const [rulesPath, pagePath] = [join(folder, 'rules.yaml'), join(folder, 'report.html')]
  writeFileSync(rulesPath, rules)
  const line = ['simulate', rulesPath, log, '--format', 'json', '--report', pagePath]
  const { status, stdout, stderr } = spawnSync('node', [join(ROOT, 'packages/cli/bin/sluice.js'), ...line], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  await page.goto(pathToFileURL(pagePath).href)
  await page.locator('#limits').waitFor()
  return JSON.parse(stdout)
}

function embedded(): TrafficFigures {
  const [, text] = /<script type="application\/json" id="figures">(.*?)<\/script>/s.exec(
    readFileSync(join(folder, 'report.html'), 'utf8'),
  )!
  return JSON.parse(text!)
}

const number = (value: number): string => value.toLocaleString('en-US')
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
const textsOf = (selector: string): Promise<string[]> => page.locator(selector).allTextContents()

describe('the report of a simulation, in Chromium', () => {
  test('has the figures of the JSON', async () => {
    const json = await report(RULES, TRACE)
    const figures = embedded()
    expect(figures.simulation).toEqual(json)
    const [client] = json.policies
    expect(client!.denied).toBeGreaterThan(0)
    const rows = await page.locator('#limits tbody tr').all()
    expect(rows).toHaveLength(json.policies.length)
    for (const [i, { name, matched, admitted, denied, deniedShare }] of json.policies.entries()) {
      expect(await rows[i]!.locator('code').textContent()).toBe(name)
      const cells = await rows[i]!.locator('td').allTextContents()
      expect(cells.slice(0, 4)).toEqual([
        number(matched),
        number(admitted),
        number(denied),
        percent(deniedShare),
      ])
    }
    const shown = await textsOf('[data-limit="client"] .heat-map tbody tr th')
    const counts = await textsOf('[data-limit="client"] .heat-map tbody tr td.number')
    expect(shown.slice(0, 10).map((key, i) => ({ key, denied: Number(counts[i]) }))).toEqual(client!.top)
  })

  test('says first how many are hit, who, and when', async () => {
    const { denied, simulation } = embedded()
    const [client] = simulation.policies
    const verdict = (await textsOf('#verdict'))[0]!
    expect(verdict).toContain(`${number(denied)} requests of ${number(simulation.requests)} would be refused`)
    expect(verdict).toContain(`Most by client, which hits`)
    expect(verdict).toContain(`above all ${client!.top[0]!.key} (${client!.top[0]!.denied})`)
    expect(verdict).toMatch(/From 17 May 2015 10:00 to 20 May 2015 21:30; worst from \d+ May 2015/)
  })

  test('draws every chart, light and dark, on a screen and on a phone, and nothing is cut off', async () => {
    for (const [width, scheme] of [
      [1180, 'light'],
      [1180, 'dark'],
      [390, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: scheme })
      const colors = `[...document.querySelectorAll('.chart canvas')].map((canvas) => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)`
      await expect
        .poll(async () => Math.min(...((await page.evaluate(colors)) as number[])))
        .toBeGreaterThan(3)
      const charts = await page.locator('.chart').count()
      expect(await page.locator('.chart canvas').count()).toBe(charts)
      const wider = `[...document.querySelectorAll('html, section, figure, .heat-map')].filter((each) => each.scrollWidth > each.clientWidth + 1 || each.clientWidth > innerWidth).length`
      expect([width, scheme, await page.evaluate(wider)]).toEqual([width, scheme, 0])
      expect((await page.screenshot({ fullPage: true })).length).toBeGreaterThan(20_000)
    }
    await page.emulateMedia({ media: 'print' })
    expect((await page.pdf()).subarray(0, 4).toString()).toBe('%PDF')
    await page.emulateMedia({ media: 'screen' })
  })

  test('tells each cell of the heat map to the keyboard', async () => {
    const strip = page.locator('[data-limit="client"] .strip').first()
    await strip.focus()
    const readout = page.locator('[data-limit="client"] .readout')
    await page.keyboard.press('Home')
    expect(await readout.textContent()).toMatch(/^\S+, from 17 May 2015 10:00: no request$/)
    const cells = (await strip.locator('i').all()).length
    let over = 0
    for (let i = 0; i < cells; i++) {
      const [, count = '0'] = /: (\d+) over the limit of/.exec((await readout.textContent())!) ?? []
      over += Number(count)
      await page.keyboard.press('ArrowRight')
    }
    expect(over).toBe(embedded().simulation.policies[0]!.top[0]!.denied)
    expect(await strip.getAttribute('aria-label')).toMatch(
      new RegExp(`^${over} of \\d+ requests over the limit, first`),
    )
  })

  test('runs nothing that a log or a rulebook holds, and shows it as text', async () => {
    const log = join(folder, 'a<!--<script>.csv')
    const rows = Array.from({ length: 9 }, (_, i) => `${i},${HOSTILE},/x${HOSTILE}`)
    writeFileSync(log, ['t_ms,tenant,path', ...rows, `x${HOSTILE},a,b`].join('\n'))
    const rules = `domain: ${JSON.stringify(HOSTILE)}\nlimits: [{ name: a, key: [tenant, path], limit: 2/minute }]`
    const json = await report(rules, log)
    expect(json).toMatchObject({ requests: 9, unreadable: 1, policies: [{ denied: 7 }] })
    expect(embedded().simulation).toEqual(json)
    expect(await page.title()).toBe(`Limits of ${HOSTILE} on ${log}`)
    expect(await textsOf('h1 code')).toEqual([HOSTILE])
    expect(await textsOf('.heat-map tbody th')).toEqual([json.policies[0]!.top[0]!.key])
    expect(await page.locator('img, body script:not([id]) ~ script').count()).toBe(0)
  })

  test('shows a log without refusals, and one without requests', async () => {
    const log = join(folder, 'quiet.csv')
    writeFileSync(log, 't_ms,tenant\n0,a\n')
    const rules = 'domain: d\nlimits: [{ name: a, key: [tenant], limit: 2/minute }]'
    await report(rules, log)
    expect(await textsOf('#verdict')).toEqual(['None of 1 request would be refused.'])
    writeFileSync(log, 't_ms,tenant\n')
    await report(rules, log)
    expect(await textsOf('#verdict')).toEqual(['None of 0 requests would be refused.'])
  })

  test('asks for nothing but the file, and its policy lets nothing else in', async () => {
    expect(new Set(asked)).toEqual(new Set([pathToFileURL(join(folder, 'report.html')).href]))
    // This test reads pixels, of which Chromium warns.
    expect(opened.faults.filter((fault) => !fault.startsWith('Canvas2D'))).toEqual([])
    const text = readFileSync(join(folder, 'report.html'), 'utf8')
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)!
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'$/,
    )
    await expect(page.evaluate(`fetch('https://example.com')`)).rejects.toThrow()
  })
})
