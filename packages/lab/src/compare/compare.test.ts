import { describe, expect, it } from 'vitest'
import { simulateTraffic } from '../simulate/simulate-traffic.ts'
import { keyOfTrace, rowsOfTrace, rulesOf, TRACES, type TraceRow, tracePath } from '../traces.test-support.ts'
import { sourceOf } from '../traffic/reading.test-support.ts'
import { sourcesOf } from '../traffic/source.ts'
import { compareRules } from './compare.ts'

/** Who a fixed window refuses, counted by hand. */
function windowFates(rows: readonly TraceRow[], limit: number, keyed: boolean): boolean[] {
  const used = new Map<string, number>()
  return rows.map(({ ms, key }) => {
    const window = `${keyed ? key : ''} ${Math.floor(ms / 60_000)}`
    const count = used.get(window) ?? 0
    if (count < limit) used.set(window, count + 1)
    return count < limit
  })
}

/** Who a sliding log refuses, by looking back over all that was admitted. */
function slidingFates(rows: readonly TraceRow[], limit: number): boolean[] {
  const admitted = new Map<string, number[]>()
  return rows.map(({ ms, key }) => {
    const times = (admitted.get(key) ?? []).filter((time) => time > ms - 60_000)
    const allowed = times.length < limit
    if (allowed) times.push(ms)
    admitted.set(key, times)
    return allowed
  })
}

function mostOf(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}

function expectedChange(rows: readonly TraceRow[], all: number): object {
  const minutes = new Map<number, number>()
  for (const { ms } of rows) {
    const minute = Math.floor(ms / 60_000)
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
  }
  const worst = [...minutes].reduce<[number, number]>((a, b) => (b[1] > a[1] ? b : a), [0, 0])
  const keys = mostOf(rows.map(({ key }) => key))
  return {
    requests: rows.length,
    share: rows.length / all,
    keys: keys.length,
    first: rows.length === 0 ? null : new Date(rows[0]!.ms).toISOString(),
    last: rows.length === 0 ? null : new Date(rows.at(-1)!.ms).toISOString(),
    worst:
      rows.length === 0 ? null : { minute: new Date(worst[0] * 60_000).toISOString(), requests: worst[1] },
    byPolicy: rows.length === 0 ? [] : [{ policy: 'client', requests: rows.length }],
    topKeys: keys.slice(0, 10).map(([key, requests]) => ({ policy: 'client', key, requests })),
    topRoutes: mostOf(rows.map(({ route }) => route))
      .slice(0, 10)
      .map(([route, requests]) => ({ route, requests })),
  }
}

describe.each(TRACES)('%s', (file) => {
  const rows = rowsOfTrace(file)
  const key = keyOfTrace(file)
  const busiest = Math.max(
    ...mostOf(rows.map((row) => `${row.key} ${Math.floor(row.ms / 60_000)}`)).map(([, n]) => n),
  )
  const [high, low] = [Math.max(2, Math.floor(busiest * 0.7)), Math.max(1, Math.floor(busiest * 0.3))]
  const window = `  - { name: client, key: [${key}], limit: ${high}/minute, algorithm: fixed-window }\n`
  const log = `  - { name: client, key: [${key}], limit: ${low}/minute, algorithm: sliding-window-log }\n`

  it('Acceptance 15.1: has the changes that two counts by hand have, in both directions', async () => {
    const before = windowFates(rows, high, true)
    const after = slidingFates(rows, low)
    const denied = rows.filter((_, i) => before[i] && !after[i])
    const admitted = rows.filter((_, i) => !before[i] && after[i])
    expect(denied.length).toBeGreaterThan(0)
    const [old, proposed] = [rulesOf(window), rulesOf(log)]
    const there = await compareRules(sourcesOf([tracePath(file)]), { old, new: proposed })
    expect(there).toMatchObject({
      requests: rows.length,
      newlyDenied: expectedChange(denied, rows.length),
      newlyAdmitted: expectedChange(admitted, rows.length),
    })
    const back = await compareRules(sourcesOf([tracePath(file)]), { old: proposed, new: old })
    expect(back).toMatchObject({ newlyDenied: there.newlyAdmitted, newlyAdmitted: there.newlyDenied })
  })

  it('Acceptance 15.1: has the totals of two simulations, and the same bytes each time', async () => {
    const [old, proposed] = [rulesOf(`${window}  - { name: all, key: [], limit: 5/second }\n`), rulesOf(log)]
    const sources = sourcesOf([tracePath(file)])
    const found = await compareRules(sources, { old, new: proposed })
    const alone = [await simulateTraffic(sources, old), await simulateTraffic(sources, proposed)] as const
    expect(found.old.policies).toEqual(alone[0].policies)
    expect(found.new.policies).toEqual(alone[1].policies)
    const again = await compareRules(sources, { old, new: proposed })
    expect(JSON.stringify(again)).toBe(JSON.stringify(found))
  })
})

describe('a change', () => {
  const rows = 't_ms,key,path\n0,a,/x\n1,a,/x\n2,a,/y\n60000,b,/x\n60001,b,/x\n'

  it('is under the rule that decided, and not under one in shadow mode', async () => {
    const old = rulesOf('  - { name: wide, key: [user], limit: 100/minute }\n')
    const proposed = rulesOf(
      '  - { name: one, key: [user], limit: 1/minute, algorithm: fixed-window }\n  - { name: dark, key: [], limit: 1/hour, mode: shadow }\n',
    )
    const {
      newlyDenied,
      newlyAdmitted,
      new: totals,
    } = await compareRules([sourceOf(rows)], { old, new: proposed })
    expect(newlyDenied).toMatchObject({
      requests: 3,
      byPolicy: [{ policy: 'one', requests: 3 }],
      topKeys: [
        { policy: 'one', key: 'a', requests: 2 },
        { policy: 'one', key: 'b', requests: 1 },
      ],
      topRoutes: [
        { route: '/x', requests: 2 },
        { route: '/y', requests: 1 },
      ],
      worst: { minute: '1970-01-01T00:00:00.000Z', requests: 2 },
    })
    expect(newlyAdmitted).toMatchObject({ requests: 0, first: null, worst: null })
    expect(totals.policies.find(({ name }) => name === 'dark')).toMatchObject({ denied: 4 })
  })

  it('is none where a rulebook only changes its names', async () => {
    const old = rulesOf('  - { name: a, key: [user], limit: 1/minute }\n')
    const proposed = rulesOf('  - { name: b, key: [user], limit: 1/minute }\n')
    const found = await compareRules([sourceOf(rows)], { old, new: proposed })
    expect([found.newlyDenied.requests, found.newlyAdmitted.requests]).toEqual([0, 0])
  })
})
