import type { SimulationReport, TrafficFigures } from '@sluice/lab'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE, ReportFile, TRACE } from './report-file.test-support.ts'

const RULES = `
domain: blog
limits:
  - { name: client, key: [ip], limit: 20/minute, algorithm: sliding-window-counter }
  - { name: everyone, key: [], limit: 2/second, burst: 60 }
  - { name: images, when: { path: "/images/**" }, key: [ip], limit: 5/minute, mode: shadow }
  - { name: admin, when: { path: /admin }, key: [ip], limit: 5/minute }
`

let file: ReportFile

beforeAll(async () => {
  file = await ReportFile.open()
})

afterAll(() => file?.close())

function report(rules: string, log: string): Promise<SimulationReport> {
  return file.make('simulate', file.write('rules.yaml', rules), log)
}

const number = (value: number): string => value.toLocaleString('en-US')
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

describe('the report of a simulation, in Chromium', () => {
  test('has the figures of the JSON', async () => {
    const json = await report(RULES, TRACE)
    const figures = file.embedded<TrafficFigures>()
    expect(figures.simulation).toEqual(json)
    const [client] = json.policies
    expect(client!.denied).toBeGreaterThan(0)
    const rows = await file.page.locator('#limits tbody tr').all()
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
    const shown = await file.texts('[data-limit="client"] .heat-map tbody tr th')
    const counts = await file.texts('[data-limit="client"] .heat-map tbody tr td.number')
    expect(shown.slice(0, 10).map((key, i) => ({ key, denied: Number(counts[i]) }))).toEqual(client!.top)
  })

  test('says first how many are hit, who, and when', async () => {
    const { denied, simulation } = file.embedded<TrafficFigures>()
    const [client] = simulation.policies
    expect(await file.texts('#verdict')).toEqual([
      `${number(denied)} requests of ${number(simulation.requests)} would be refused (${percent(denied / simulation.requests)}).`,
    ])
    const [names, said] = [await file.texts('#facts dt'), await file.texts('#facts dd')]
    expect(names).toEqual(['Who', 'When', 'Besides'])
    const [first, second, third] = client!.top
    expect(said[0]).toBe(
      `client (20 per minute) refuses ${number(client!.denied)} requests of 50 of 1,753 keys, most ${[first, second, third].map((each) => `${each!.key} (${each!.denied})`).join(', ')}.`,
    )
    expect(said[1]).toMatch(/^From 17 May 2015 10:00 to 20 May 2015 21:30; worst from \d+ May 2015/)
    expect(said[2]).toBe('16 requests more would be over a limit that does not refuse: images.')
    expect((await file.texts('#replayed'))[0]).toContain(
      '9,999 requests, 17 May 2015 10:05 to 20 May 2015 21:05 UTC',
    )
  })

  test('draws every chart, light and dark, on a screen and on a phone, and nothing is cut off', () =>
    file.isWholeEverywhere())

  test('tells each cell of the heat map to the keyboard', async () => {
    const strip = file.page.locator('[data-limit="client"] .strip').first()
    await strip.focus()
    const readout = file.page.locator('[data-limit="client"] .readout')
    await file.page.keyboard.press('Home')
    expect(await readout.textContent()).toMatch(/^\S+, from 17 May 2015 10:00: no request$/)
    const cells = (await strip.locator('i').all()).length
    let over = 0
    for (let i = 0; i < cells; i++) {
      const [, count = '0'] = /: (\d+) over the limit of/.exec((await readout.textContent())!) ?? []
      over += Number(count)
      await file.page.keyboard.press('ArrowRight')
    }
    expect(over).toBe(file.embedded<TrafficFigures>().simulation.policies[0]!.top[0]!.denied)
    expect(await strip.getAttribute('aria-label')).toMatch(
      new RegExp(`^${over} of \\d+ requests over the limit, first`),
    )
  })

  test('runs nothing that a log or a rulebook holds, and shows it as text', async () => {
    const rows = Array.from({ length: 9 }, (_, i) => `${i},${HOSTILE},/x${HOSTILE}`)
    const log = file.write('a<!--<script>.csv', ['t_ms,tenant,path', ...rows, `x${HOSTILE},a,b`].join('\n'))
    const rules = `domain: ${JSON.stringify(HOSTILE)}\nlimits: [{ name: a, key: [tenant, path], limit: 2/minute }]`
    const json = await report(rules, log)
    expect(json).toMatchObject({ requests: 9, unreadable: 1, policies: [{ denied: 7 }] })
    expect(file.embedded<TrafficFigures>().simulation).toEqual(json)
    expect(await file.page.title()).toBe(`Limits of ${HOSTILE} on ${log}`)
    expect(await file.texts('h1 code')).toEqual([HOSTILE])
    expect(await file.texts('.heat-map tbody th')).toEqual([json.policies[0]!.top[0]!.key])
    expect((await file.texts('#facts dd'))[0]).toMatch(
      /^a \(2 per minute\) refuses 7 requests of its one key, /,
    )
    expect(await file.page.locator('img, body script:not([id]) ~ script').count()).toBe(0)
  })

  test('shows a log without refusals, and one without requests', async () => {
    const log = file.write('quiet.csv', 't_ms,tenant\n0,a\n')
    const rules = 'domain: d\nlimits: [{ name: a, key: [tenant], limit: 2/minute }]'
    await report(rules, log)
    expect(await file.texts('#verdict')).toEqual(['None of 1 request would be refused.'])
    file.write('quiet.csv', 't_ms,tenant\n')
    await report(rules, log)
    expect(await file.texts('#verdict')).toEqual(['None of 0 requests would be refused.'])
  })

  test('asks for nothing but the file, and its policy lets nothing else in', () => file.isAlone())
})
