import { EventEmitter } from 'node:events'
import { MessageChannel, type TransferListItem } from 'node:worker_threads'
import { algorithms } from '@sluice/limiter/algorithms'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comparisonOf } from '../compare/compare.ts'
import { CompareStudy } from '../compare/compare-study.ts'
import { SimulateStudy } from '../simulate/simulate-study.ts'
import { readSummary } from '../simulate/simulate-traffic.ts'
import { policyReports } from '../simulate/tally.ts'
import { keyOfTrace, rulesOf, TRACES, tracePath } from '../traces.test-support.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { sourceOf } from '../traffic/reading.test-support.ts'
import { sourcesOf, type TrafficSource } from '../traffic/source.ts'
import type { StartJob } from './job-line.ts'
import type { JobMessage } from './messages.ts'
import { partingOf } from './parting.ts'
import { type JobWays, runInJobs, runStudy, type StudyLines } from './run-study.ts'
import { serveJob } from './serve-job.ts'

/** A job within this thread, which gets its messages as a thread does. */
const startHere: StartJob = (plan) => {
  const { port1, port2 } = new MessageChannel()
  serveJob(port1, structuredClone(plan))
  return {
    postMessage: (message, transfer) => port2.postMessage(message, transfer),
    on: (event: string, listener: (value: never) => void) => port2.on(event, listener as () => void),
    terminate: () => port2.close(),
  }
}

const SMALL: JobWays = { start: startHere, blockBytes: 1 << 16, mostKept: 50 }

/** What both ways say of the same logs, as text. */
async function both(
  sources: readonly TrafficSource[],
  limits: readonly [string, string],
  lines: StudyLines,
  count: number,
  ways: JobWays = SMALL,
): Promise<{ readonly alone: string[]; readonly shared: string[]; readonly requests: number }> {
  const [old, proposed] = limits.map(rulesOf) as [ReturnType<typeof rulesOf>, ReturnType<typeof rulesOf>]
  const simulate = () => new SimulateStudy(old)
  const compare = () => new CompareStudy({ old, new: proposed })
  const counts = Array.from({ length: 4 }, () => new ReadCounts())
  const named = { ...lines, domain: 'replay' }
  const plan = { kind: 'simulate', domain: old.domain } as const
  const plans = { kind: 'compare', old: old.domain, new: proposed.domain } as const
  const jobs = { count }
  const simulated = (counts: ReadCounts, found: Awaited<ReturnType<typeof simulateAlone>>[]) =>
    JSON.stringify({ ...readSummary(counts), policies: policyReports(found) })
  const simulateAlone = () => runStudy(simulate(), sources, named, counts[0]!)
  const alone = [
    simulated(counts[0]!, [await simulateAlone()]),
    JSON.stringify(comparisonOf(counts[1]!, [await runStudy(compare(), sources, named, counts[1]!)])),
  ]
  const shared = [
    simulated(counts[2]!, await runInJobs(simulate(), plan, sources, named, counts[2]!, jobs, ways)),
    JSON.stringify(
      comparisonOf(counts[3]!, await runInJobs(compare(), plans, sources, named, counts[3]!, jobs, ways)),
    ),
  ]
  return { alone, shared, requests: counts[0]!.requests }
}

describe.each(TRACES)('jobs on %s', (file) => {
  const key = keyOfTrace(file)
  const sources = sourcesOf([tracePath(file)])
  const cost = file.startsWith('azure') ? ['input_tokens', 'output_tokens'] : undefined
  const one = `- { name: one, key: [${key}], limit: 20/minute, algorithm: fixed-window }`
  const several = `${one}
- { name: bucket, key: [${key}], limit: 2/second, burst: 9 }
- { name: day, key: [${key}], limit: 300/calendar-day@Europe/Berlin, algorithm: fixed-window }
- { name: route, key: [${key}, path], limit: 5/minute, algorithm: sliding-window-counter }`
  const all = '- { name: all, key: [], limit: 60/minute, algorithm: sliding-window-log }'

  it.each([
    ['one rule', one, several],
    ['a rule for all', all, one],
    ['keys without a common part', `${one}\n- { name: path, key: [path], limit: 30/minute }`, all],
  ])('say the same as one: %s', async (_, old, proposed) => {
    const { alone, shared, requests } = await both(sources, [old, proposed], { cost }, 3)
    expect(requests).toBeGreaterThan(1_000)
    expect(shared).toEqual(alone)
  })
})

describe('jobs', () => {
  const names = Object.keys(algorithms)
  const part = fc.constantFrom('ip', 'user', 'path', 'attribute:team', 'ip/24', 'user|fold')
  const limit = fc.record({
    key: fc.oneof(fc.uniqueArray(part, { maxLength: 3 }), fc.constant(['ip'])),
    algorithm: fc.constantFrom(...names),
    limit: fc.integer({ min: 2, max: 6 }),
    period: fc.constantFrom('second', 'minute', 'hour'),
    cost: fc.constantFrom('1', '2', '"attribute:units"'),
    missing: fc.constantFrom('skip', 'share', 'deny'),
    enforced: fc.boolean(),
  })
  const rulebook = fc
    .array(limit, { minLength: 1, maxLength: 4 })
    .map((limits) =>
      limits
        .map(
          ({ key, algorithm, limit: count, period, cost, missing, enforced }, i) =>
            `- { name: rule${i}, key: [${key.join(', ')}], limit: ${count}/${period}, algorithm: ${algorithm}, cost: ${cost}, on_missing_key: ${missing}, mode: ${enforced ? 'enforce' : 'shadow'} }`,
        )
        .join('\n'),
    )
  const request = fc.record({
    ts: fc.integer({ min: 1_767_225_600_000, max: 1_767_225_900_000 }),
    ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '-'),
    user: fc.constantFrom('ada', 'Ada', '', 'x|y'),
    path: fc.constantFrom('/a', '/a?q=1', '/b'),
    team: fc.constantFrom('t1', 't2'),
    units: fc.constantFrom('1', '3', '0', 'many'),
    took: fc.constantFrom(1, 2_500),
  })
  const line = fc.oneof(
    { weight: 9, arbitrary: request.map((fields) => JSON.stringify(fields)) },
    { weight: 1, arbitrary: fc.constantFrom('', '{"ts":', 'x'.repeat(70_000)) },
  )

  it('say the same as one, whatever the rules and the lines', async () => {
    let parted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 120 }),
        rulebook,
        rulebook,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 20, max: 5_000 }),
        async (log, old, proposed, files, count, blockBytes) => {
          const size = Math.ceil(log.length / files)
          const sources = Array.from({ length: files }, (_, i) =>
            sourceOf(log.slice(i * size, (i + 1) * size).join('\n'), `log${i}`),
          )
          const fields = 'time=ts,ip=ip,user=user,path=path,team=team,units=units,duration-ms=took'
          const { alone, shared } = await both(sources, [old, proposed], { fields, held: 30 }, count, {
            ...SMALL,
            blockBytes,
            mostKept: 3,
          })
          expect(shared).toEqual(alone)
          const { domain } = rulesOf(old)
          if (partingOf([domain], count) !== undefined) parted++
        },
      ),
      { numRuns: 20 },
    )
    expect(parted).toBeGreaterThan(0)
  })

  it('say the same as one where more different lines come than are remembered', async () => {
    const rows = Array.from({ length: 310_000 }, (_, i) => `${i},${i % 290_000}\n`)
    const { alone, shared } = await both(
      [sourceOf(`t_ms,key\n${rows.join('')}`, 'log', 1 << 18)],
      [
        '- { name: one, key: [user], limit: 1/hour, algorithm: fixed-window }',
        '- { name: one, key: [user], limit: 2/hour }',
      ],
      {},
      2,
      { ...SMALL, mostKept: 100_000 },
    )
    expect(shared).toEqual(alone)
  })

  it('read lines that depend on those before them in their order', async () => {
    const columns = ['c-ip', 'cs-username']
    const parts = Array.from({ length: 40 }, (_, i) => {
      const order = i % 2 === 0 ? columns : columns.toReversed()
      const values: Record<string, string> = { 'c-ip': `192.0.2.${i % 3}`, 'cs-username': `u${i % 4}` }
      const entry = `2026-01-01 12:00:${10 + i} ${order.map((name) => values[name]).join(' ')}\n`
      return `#Fields: date time ${order.join(' ')}\n${entry.repeat(5)}`
    })
    const limits = '- { name: one, key: [ip], limit: 3/minute }'
    const { alone, shared, requests } = await both(
      [sourceOf(parts.join(''))],
      [limits, limits.replace('3', '4')],
      {},
      3,
      { ...SMALL, blockBytes: 500 },
    )
    expect(requests).toBe(200)
    expect(shared).toEqual(alone)
  })

  it('fail as one does', async () => {
    const limits = '- { name: one, key: [ip], limit: 3/minute }'
    await expect(both([sourceOf('a\n')], [limits, limits], { format: 'csv' }, 2)).rejects.toThrow(
      'the first line of a CSV must name its columns',
    )
    const { rules, domain } = rulesOf(limits)
    const plan = { kind: 'simulate', domain } as const
    const study = new SimulateStudy({ rules, domain })
    const broken: TrafficSource = { ...sourceOf(Buffer.from([0x1f, 0x8b, 8, 0, 0]), 'broken.gz') }
    await expect(runInJobs(study, plan, [broken], {}, new ReadCounts(), { count: 2 }, SMALL)).rejects.toThrow(
      'cannot read broken.gz: its gzip data end too early',
    )
  })

  const codes = { code: 'ERR_WORKER_OUT_OF_MEMORY' }
  it.each([
    ['ends', [['exit', 3]], 'a thread ended before its work was done, with code 3'],
    [
      'fails, and an answer comes later',
      [
        ['error', new RangeError('odd')],
        ['message', 0],
      ],
      'odd',
    ],
    [
      'fails and ends',
      [
        ['error', new RangeError('odd')],
        ['exit', 1],
      ],
      'odd',
    ],
    [
      'lacks memory',
      [['error', Object.assign(new Error('heap'), codes)]],
      'a thread cannot go on: heap; fewer threads need less memory',
    ],
  ] as const)('say so where one %s', async (_, events, message) => {
    const start: StartJob = () => {
      const port = new EventEmitter()
      const postMessage = () =>
        void setImmediate(() => {
          for (const [name, value] of events) port.emit(name, value)
        })
      return Object.assign(port, { postMessage, terminate: () => undefined })
    }
    const { rules, domain } = rulesOf('- { name: one, key: [ip], limit: 3/minute }')
    const study = new SimulateStudy({ rules, domain })
    const log = sourceOf('t_ms,ip\n1,192.0.2.1\n')
    const ways = { ...SMALL, start }
    const plan = { kind: 'simulate', domain } as const
    await expect(runInJobs(study, plan, [log], {}, new ReadCounts(), { count: 2 }, ways)).rejects.toThrow(
      message,
    )
  })

  it('say so once, where one ends while it has much to decide', async () => {
    const start: StartJob = (plan) => {
      const { port1, port2 } = new MessageChannel()
      serveJob(port1, structuredClone(plan))
      const port = new EventEmitter()
      port2.on('message', (answer) => port.emit('message', answer))
      return Object.assign(port, {
        postMessage: (message: JobMessage, transfer: readonly TransferListItem[]) => {
          if (message.kind === 'decide') setTimeout(() => port.emit('exit', 3), 5)
          else port2.postMessage(message, transfer)
        },
        terminate: () => port2.close(),
      })
    }
    const { rules, domain } = rulesOf('- { name: one, key: [ip], limit: 3/minute }')
    const log = sourceOf(`t_ms,ip\n${Array.from({ length: 400_000 }, (_, i) => `${i},192.0.2.1\n`).join('')}`)
    const run = runInJobs(
      new SimulateStudy({ rules, domain }),
      { kind: 'simulate', domain },
      [log],
      { held: 2 },
      new ReadCounts(),
      { count: 2 },
      { ...SMALL, start },
    )
    await expect(run).rejects.toThrow('a thread ended before its work was done, with code 3')
  })
})
