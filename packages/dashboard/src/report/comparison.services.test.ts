import type { Comparison, ComparisonFigures } from '@sluice/lab'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE, ReportFile, TRACE } from './report-file.test-support.ts'

const OLD = `
domain: blog
limits:
  - { name: client, key: [ip], limit: 20/minute, algorithm: sliding-window-counter }
  - { name: images, when: { path: "/images/**" }, key: [ip], limit: 5/minute, mode: shadow }
  - { name: gone, when: { path: /admin }, key: [ip], limit: 5/minute }
`
const NEW = `
domain: blog
limits:
  - { name: client, key: [ip], limit: 15/minute, burst: 30 }
  - { name: images, when: { path: "/images/**" }, key: [ip], limit: 5/minute }
`

let file: ReportFile

beforeAll(async () => {
  file = await ReportFile.open()
})

afterAll(() => file?.close())

function compared(old: string, proposed: string, log: string): Promise<Comparison> {
  return file.make('compare', file.write('old.yaml', old), file.write('new.yaml', proposed), '--log', log)
}

const number = (value: number): string => value.toLocaleString('en-US')
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)
const second = (iso: string): string => iso.slice(11, 19)

describe('the report of a comparison, in Chromium', () => {
  test('has the figures of the JSON', async () => {
    const json = await compared(OLD, NEW, TRACE)
    const figures = file.embedded<ComparisonFigures>()
    expect(figures.comparison).toEqual(json)
    const { timeline } = figures
    expect(sum(timeline.requests)).toBe(json.requests)
    expect(sum(timeline.deniedByBoth)).toBe(json.old.denied - json.newlyAdmitted.requests)
    for (const direction of ['newlyDenied', 'newlyAdmitted'] as const) {
      const change = json[direction]
      expect(change.requests).toBeGreaterThan(0)
      expect(sum(timeline[direction])).toBe(change.requests)
      expect(
        figures[direction].map(({ key, policy, requests }) => ({ key, policy, requests: sum(requests) })),
      ).toEqual(change.topKeys)
      const counts = await file.texts(`[data-change="${direction}"] .heat-map tbody td.number`)
      expect(counts).toEqual(change.topKeys.map(({ requests }) => number(requests)))
      const shown = async (table: string): Promise<string[]> =>
        file.texts(`#${direction}-${table} tbody :is(code, td:nth-of-type(1))`)
      expect(await shown('routes')).toEqual(
        change.topRoutes.flatMap(({ route, requests }) => [route, number(requests)]),
      )
      expect(await shown('policies')).toEqual(
        change.byPolicy.flatMap(({ policy, requests }) => [policy, number(requests)]),
      )
    }
    const deniedBy = (policies: Comparison['old']['policies'], name: string): string => {
      const found = policies.find((policy) => policy.name === name)
      return found === undefined ? '–' : number(found.denied)
    }
    for (const row of await file.page.locator('#rules tbody tr').all()) {
      const name = (await row.locator('code').textContent())!
      const cells = await row.locator('td').allTextContents()
      expect(cells.slice(0, 2)).toEqual([
        deniedBy(json.old.policies, name),
        deniedBy(json.new.policies, name),
      ])
    }
    expect(await file.texts('#rules tbody small')).toEqual([
      '20 per minute; refuses → 15 per minute, 30 at once; refuses',
      '5 per minute; shadow: refuses nothing → 5 per minute; refuses',
      'met by no request → none',
    ])
  })

  test('says first how many change, who, where, and when', async () => {
    const {
      requests,
      old,
      new: proposed,
      newlyDenied,
      newlyAdmitted,
    } = file.embedded<ComparisonFigures>().comparison
    expect(await file.texts('#verdict')).toEqual([
      `${number(newlyDenied.requests)} requests of ${number(requests)} would be newly refused (${percent(newlyDenied.share)}), and ${number(newlyAdmitted.requests)} newly admitted (${percent(newlyAdmitted.share)}).`,
    ])
    const said = await file.texts('#facts dd')
    const [first] = newlyDenied.topKeys
    const [route] = newlyDenied.topRoutes
    expect(said[0]).toContain(`${number(newlyDenied.keys)} keys, most ${first!.key} (${first!.requests})`)
    expect(said[1]).toContain(`On ${route!.route} (${route!.requests})`)
    expect(said[2]).toMatch(
      new RegExp(
        `^First .*${second(newlyDenied.first!)}, last .*${second(newlyDenied.last!)}; worst minute .*: ${newlyDenied.worst!.requests}\\.$`,
      ),
    )
    expect(said.at(-1)).toBe(
      `The old rules refuse ${number(old.denied)} (${percent(old.denied / requests)}), the new ones ${number(proposed.denied)} (${percent(proposed.denied / requests)}).`,
    )
  })

  test('draws every chart, light and dark, on a screen and on a phone, and nothing is cut off', () =>
    file.isWholeEverywhere())

  test('tells each cell of the heat maps to the keyboard', async () => {
    for (const [direction, said] of [
      ['newlyDenied', 'newly refused'],
      ['newlyAdmitted', 'newly admitted'],
    ] as const) {
      const section = file.page.locator(`[data-change="${direction}"]`)
      const strip = section.locator('.strip').first()
      await strip.focus()
      await file.page.keyboard.press('Home')
      let count = 0
      for (let i = await strip.locator('i').count(); i > 0; i--) {
        const text = (await section.locator('.readout').textContent())!
        count += Number(new RegExp(`: (\\d+) ${said}$`).exec(text)?.[1] ?? 0)
        await file.page.keyboard.press('ArrowRight')
      }
      const [first] = file.embedded<ComparisonFigures>().comparison[direction].topKeys
      expect(count).toBe(first!.requests)
      expect(await strip.getAttribute('aria-label')).toMatch(
        new RegExp(`^${count} requests ${said}, first from`),
      )
    }
  })

  test('runs nothing that a log or a rulebook holds, and shows it as text', async () => {
    const rows = Array.from({ length: 9 }, (_, i) => `${i},${HOSTILE},/x${HOSTILE}`)
    const log = file.write('a<!--<script>.csv', ['t_ms,tenant,path', ...rows, `x${HOSTILE},a,b`].join('\n'))
    const rules = (limit: number): string =>
      `domain: ${JSON.stringify(HOSTILE)}\nlimits: [{ name: a, key: [tenant, path], limit: ${limit}/minute }]`
    const json = await compared(rules(9), rules(2), log)
    expect(json).toMatchObject({ requests: 9, unreadable: 1, newlyDenied: { requests: 7 } })
    expect(file.embedded<ComparisonFigures>().comparison).toEqual(json)
    expect(await file.page.title()).toBe(`Changed limits of ${HOSTILE} on ${log}`)
    expect(await file.texts('h1 code')).toEqual([HOSTILE])
    expect(await file.texts('.heat-map tbody th')).toEqual([json.newlyDenied.topKeys[0]!.key])
    expect(await file.page.locator('img, body script:not([id]) ~ script').count()).toBe(0)
  })

  test('shows rules that change nothing, and a log without requests', async () => {
    const log = file.write('quiet.csv', 't_ms,tenant\n0,a\n')
    const rules = 'domain: d\nlimits: [{ name: a, key: [tenant], limit: 2/minute }]'
    await compared(rules, rules, log)
    expect(await file.texts('#verdict')).toEqual(['None of 1 request would be decided otherwise.'])
    expect(await file.texts('#rules small')).toEqual(['2 per minute; refuses, as before'])
    file.write('quiet.csv', 't_ms,tenant\n')
    await compared(rules, rules, log)
    expect(await file.texts('#verdict')).toEqual(['None of 0 requests would be decided otherwise.'])
  })

  test('asks for nothing but the file, and its policy lets nothing else in', () => file.isAlone())
})
