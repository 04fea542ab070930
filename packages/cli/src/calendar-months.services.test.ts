import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { main } from './main.ts'
import { fakeIo, runLine } from './testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-months-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'rules.yaml')
const file = (more = ''): string => {
  writeFileSync(
    path,
    `domain: d\ndescriptors: [{ key: k, rate_limit: { unit: month, requests_per_unit: 5${more} } }]\n`,
  )
  return path
}
const QUESTION = JSON.stringify({ domain: 'd', descriptors: [{ entries: [{ key: 'k', value: 'v' }] }] })
const MONTH_MS = 30 * 86_400_000

/** Milliseconds from an instant to the end of its month, in UTC. */
function restOfMonth(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - now
}

describe('OF-67 --calendar-months', () => {
  it('is told by explain', async () => {
    const explain = async (...more: string[]): Promise<string> =>
      (await runLine(['explain', file(), '--request', '-', ...more], QUESTION)).out
    expect(await explain()).toContain('5 per 30 d')
    expect(await explain('--calendar-months')).toContain('5 per calendar month in UTC')
  })

  it('is checked: a month of the calendar takes no multiplier', async () => {
    const check = (...more: string[]): ReturnType<typeof runLine> =>
      runLine(['check', file(', unit_multiplier: 2'), ...more])
    expect(await check()).toMatchObject({ code: 0 })
    expect(await check('--calendar-months')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/rules\.yaml:2:\d+: .*calendar/),
    })
  })

  it.each([[[]], [['--calendar-months']]])('is what serve decides by: %j', async (more) => {
    const { io, err, signal } = fakeIo()
    const done = main(['serve', '--http', '127.0.0.1:0', '--admin', '127.0.0.1:0', file(), ...more], io)
    await vi.waitFor(() => expect(err()).toMatch(/\/v1\/rules\n/), 60_000)
    const url = /http:\/\/\S*\/v1\/check/.exec(err())![0]
    const asked = Date.now()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: QUESTION,
    })
    const { resetAfterMs } = (await response.json()) as { resetAfterMs: number }
    const rest = more.length > 0 ? restOfMonth : (now: number) => MONTH_MS - (now % MONTH_MS)
    // A month may end while it is asked.
    const off = [asked, Date.now()].map((now) => Math.abs(resetAfterMs - rest(now)))
    expect(Math.min(...off)).toBeLessThan(60_000)
    signal('SIGTERM')
    expect(await done).toBe(0)
  })
})
