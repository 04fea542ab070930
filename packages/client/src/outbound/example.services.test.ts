import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MemoryStore } from '@sluice/limiter'
import { createPipeline } from '@sluice/limiter/pipeline'
import { compile } from '@sluice/limiter/rules'
import { FakeClock, FakeTimers } from '@sluice/limiter/testing'
import { loadRulebook } from '@sluice/rulebook'
import { expect, it } from 'vitest'
import { outbound } from './outbound.ts'
import { modelTokens } from './usage.ts'

const ROOT = join(import.meta.dirname, '../../../..')

it('examples/outbound keeps to examples/outbound.yaml', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'examples/outbound/index.js')])
  const [, sent, most] = /^(\d+) calls were sent, at most (\d+) at once/.exec(stdout) ?? []
  // 60 at once, and one a second
  expect(Number(sent)).toBeGreaterThanOrEqual(60)
  expect(Number(sent)).toBeLessThanOrEqual(63)
  expect(Number(most)).toBe(5)
  expect(stdout).toContain('would have waited longer than 2 s')
})

it('a rulebook’s rules limit calls by its keys: requests, tokens and calls at once', async () => {
  const clock = new FakeClock()
  const timers = new FakeTimers(clock)
  const rules = compile(await loadRulebook([join(ROOT, 'examples/outbound.yaml')]))
  const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore({ clock }) })
  const open: (() => void)[] = []
  const fetch = outbound(
    () =>
      new Promise((resolve) => open.push(() => resolve(Response.json({ usage: { total_tokens: 90_000 } })))),
    {
      clock,
      timers,
      destinations: [{ pipeline, key: (request) => request.header('x-api-key') ?? '', ...modelTokens() }],
    },
  )
  const ask = (key: string) =>
    fetch('https://api.example.com/v1/chat', {
      method: 'POST',
      headers: { 'X-Api-Key': key },
      body: '{"max_tokens":10000}',
    }).then((answer) => answer.json())
  const first = Array.from({ length: 7 }, () => ask('a'))
  void ask('b')
  await timers.run(0)
  expect(open).toHaveLength(6) // five of one key, and the other’s
  open[0]!()
  await first[0]
  await timers.run(0)
  expect(open).toHaveLength(6) // a slot is free, but its 90,000 tokens leave too few
  await timers.run(60_000)
  expect(open).toHaveLength(8)
})
