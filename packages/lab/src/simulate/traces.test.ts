import { describe, expect, it } from 'vitest'
import { keyOfTrace, rowsOfTrace, rulesOf, type TraceRow, tracePath } from '../traces.test-support.ts'
import { sourcesOf } from '../traffic/source.ts'
import type { SimulationReport } from './report.ts'
import { type SimulateOptions, simulateTraffic } from './simulate-traffic.ts'

/** The table of fixtures/traces/README.md. */
const TABLE = [
  {
    file: 'apache-combined-2015.log.gz',
    requests: 9_999,
    clients: 1_753,
    second: 9,
    minute: 136,
    client: 108,
  },
  { file: 'nasa-1995-07-01.log.gz', requests: 9_999, clients: 936, second: 8, minute: 87, client: 13 },
  { file: 'nasa-1995-08-01.log.gz', requests: 9_999, clients: 853, second: 9, minute: 69, client: 27 },
  { file: 'azure-llm-2023-code.csv.gz', requests: 8_819, clients: 1, second: 67, minute: 632, client: 632 },
  { file: 'azure-llm-2023-conv.csv.gz', requests: 19_366, clients: 1, second: 16, minute: 507, client: 507 },
  {
    file: 'mooncake-conversation-2025.csv.gz',
    requests: 12_031,
    clients: 7_432,
    second: 28,
    minute: 247,
    client: 5,
  },
  {
    file: 'mooncake-synthetic-2025.csv.gz',
    requests: 3_993,
    clients: 2_690,
    second: 13,
    minute: 273,
    client: 6,
  },
]

/** How many requests came in each window of `windowMs`, by client or all together. */
function counts(rows: readonly TraceRow[], windowMs: number, byClient: boolean): Map<string, number> {
  const found = new Map<string, number>()
  for (const { ms, key } of rows) {
    const window = `${byClient ? key : ''} ${Math.floor(ms / windowMs)}`
    found.set(window, (found.get(window) ?? 0) + 1)
  }
  return found
}

function peak(found: ReadonlyMap<string, number>): number {
  return Math.max(...found.values())
}

function above(found: ReadonlyMap<string, number>, limit: number): number {
  return [...found.values()].reduce((sum, count) => sum + Math.max(0, count - limit), 0)
}

/** Who is refused when at most `limit` admitted units may lie in any `windowMs`: by looking back over all of them. */
function slidingDenials(rows: readonly TraceRow[], windowMs: number, limit: number): Map<string, number> {
  const admitted = new Map<string, number[]>()
  const denied = new Map<string, number>()
  for (const { ms, key } of rows) {
    const times = (admitted.get(key) ?? []).filter((time) => time > ms - windowMs)
    if (times.length < limit) times.push(ms)
    else denied.set(key, (denied.get(key) ?? 0) + 1)
    admitted.set(key, times)
  }
  return denied
}

interface Rule {
  readonly name: string
  readonly key: string
  readonly limit: string
  readonly algorithm: string
}

function simulate(
  file: string,
  rules: readonly Rule[],
  more: Partial<SimulateOptions> = {},
): Promise<SimulationReport> {
  const text = rules.map(
    ({ name, key, limit, algorithm }) =>
      `  - { name: ${name}, key: ${key}, limit: ${limit}, algorithm: ${algorithm} }\n`,
  )
  const { rules: compiled, domain } = rulesOf(text.join(''))
  return simulateTraffic(sourcesOf([tracePath(file)]), { rules: compiled, domain, ...more })
}

describe.each(TABLE)('$file', ({ file, requests, clients, second, minute, client }) => {
  const rows = rowsOfTrace(file)
  const key = `[${keyOfTrace(file)}]`

  it('is as its table says', () => {
    expect({
      requests: rows.length,
      clients: new Set(rows.map((row) => row.key)).size,
      second: peak(counts(rows, 1_000, false)),
      minute: peak(counts(rows, 60_000, false)),
      client: peak(counts(rows, 60_000, true)),
    }).toEqual({ requests, clients, second, minute, client })
  })

  it('is admitted whole at its peaks', async () => {
    const algorithm = 'fixed-window'
    const report = await simulate(file, [
      { name: 'second', key: '[]', limit: `${second}/second`, algorithm },
      { name: 'minute', key: '[]', limit: `${minute}/minute`, algorithm },
      { name: 'client', key: '[tenant]', limit: `${client}/minute`, algorithm },
    ])
    expect(report).toMatchObject({ requests, unreadable: 0, late: 0 })
    for (const { denied } of report.policies) expect(denied).toBe(0)
    expect(report.policies.map(({ matched }) => matched)).toEqual([
      requests,
      requests,
      file.includes('.csv') ? requests : 0,
    ])
  })

  it('is refused what is above a limit, as counting says', async () => {
    const windows = [
      { name: 'second', key: '[]', per: 'second', windowMs: 1_000, limit: second - 1 },
      { name: 'minute', key: '[]', per: 'minute', windowMs: 60_000, limit: minute - 1 },
      { name: 'half', key: '[]', per: 'minute', windowMs: 60_000, limit: Math.floor(minute / 2) },
      { name: 'client', key, per: 'minute', windowMs: 60_000, limit: client - 1 },
    ]
    // In shadow mode none takes anything away from another.
    const log = {
      name: 'log',
      key,
      limit: `${client - 1}/minute`,
      algorithm: 'sliding-window-log, mode: shadow',
    }
    const report = await simulate(file, [
      ...windows.map(({ name, key: whose, per, limit }) => ({
        name,
        key: whose,
        limit: `${limit}/${per}`,
        algorithm: 'fixed-window, mode: shadow',
      })),
      log,
    ])
    for (const [i, { name, key: whose, windowMs, limit }] of windows.entries()) {
      const denied = above(counts(rows, windowMs, whose !== '[]'), limit)
      expect(denied).toBeGreaterThan(0)
      expect(report.policies[i]).toMatchObject({
        name,
        matched: requests,
        denied,
        admitted: requests - denied,
        deniedShare: denied / requests,
      })
    }
    const looking = slidingDenials(rows, 60_000, client - 1)
    const most = [...looking].map(([whose, times]) => ({ key: whose, denied: times }))
    most.sort((a, b) => b.denied - a.denied || (a.key < b.key ? -1 : 1))
    expect(report.policies.at(-1)).toMatchObject({
      denied: [...looking.values()].reduce((sum, times) => sum + times, 0),
      top: most.slice(0, 10),
    })
  })
})

describe('a replay', () => {
  it('refuses the busiest client of the Apache log once, at one below its peak', async () => {
    const report = await simulate('apache-combined-2015.log.gz', [
      { name: 'address', key: '[ip]', limit: '107/minute', algorithm: 'fixed-window' },
    ])
    expect(report).toEqual({
      requests: 9_999,
      unreadable: 0,
      unreadableLines: [],
      late: 0,
      policies: [
        {
          name: 'address',
          matched: 9_999,
          admitted: 9_998,
          denied: 1,
          deniedShare: 1 / 9_999,
          missingKey: 0,
          top: [{ key: expect.stringMatching(/^10(\.\d+){3}$/), denied: 1 }],
        },
      ],
    })
  })

  it('charges tokens where columns are named for it', async () => {
    const file = 'azure-llm-2023-code.csv.gz'
    const limit = 500_000
    const used = new Map<number, number>()
    let denied = 0
    for (const { ms, tokens } of rowsOfTrace(file)) {
      const window = Math.floor(ms / 60_000)
      const sum = (used.get(window) ?? 0) + tokens
      if (sum <= limit) used.set(window, sum)
      else denied++
    }
    const rule = { name: 'tokens', key: '[tenant]', limit: `${limit}/minute`, algorithm: 'fixed-window' }
    const report = await simulate(file, [rule], { cost: ['input_tokens', 'output_tokens'] })
    expect(denied).toBeGreaterThan(0)
    expect(report.policies).toMatchObject([{ denied, top: [{ key: 'code', denied }] }])
  })

  it('holds no more lines than it may, and sorts the Apache log as well within one of its hours', async () => {
    const rule = { name: 'address', key: '[ip]', limit: '50/minute', algorithm: 'fixed-window' }
    const whole = await simulate('apache-combined-2015.log.gz', [rule])
    const held = await simulate('apache-combined-2015.log.gz', [rule], { held: 600 })
    expect(held).toEqual(whole)
    const few = await simulate('apache-combined-2015.log.gz', [rule], { held: 20 })
    expect(few.late).toBeGreaterThan(0)
    expect(few.requests).toBe(9_999)
  })
})
