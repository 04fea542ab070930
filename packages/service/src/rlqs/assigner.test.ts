import { compile } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { describe, expect, it } from 'vitest'
import { Bench, ModelProxy, SETTINGS, sumOf } from './proxies.test-support.ts'
import { type FindTarget, targetsOf } from './target.ts'

const ALL = { limit: 'all' }
const DELAY_MS = 20

function rules(limit: string): FindTarget {
  return targetsOf(compile(loadText(`domain: edge\nlimits: [{ name: all, ${limit} }]`)), 1)
}

/** Proxies that are connected, to a service that has been there for some time. */
function benchOf(
  names: readonly (string | undefined)[],
  limit = 'key: [], limit: 100/second, assign: rlqs',
  own = {},
): Bench {
  const bench = new Bench(
    rules(limit),
    names.map((name) => new ModelProxy(name)),
    own,
  )
  bench.pass(10_000)
  for (const proxy of bench.proxies) proxy.connect(bench, () => DELAY_MS)
  return bench
}

const rates = (bench: Bench) => bench.rates(ALL).map(({ perSecond }) => perSecond)

/** Reports of so many requests each, and 5 s between them. */
function report(bench: Bench, ...requests: readonly number[]): void {
  bench.proxies.forEach((proxy, i) => {
    if (requests[i] !== undefined) proxy.report(bench, ALL, requests[i])
  })
}

describe('a proxy', () => {
  it('gets the whole limit with the answer to its first report, whose elapsed time is 0', () => {
    const bench = benchOf([undefined])
    report(bench, 1)
    bench.pass(50)
    expect(bench.rates(ALL)).toEqual([{ perSecond: 100, burst: 100 }])
  })

  it('that comes later gets its part when the others have given it up', () => {
    const bench = benchOf([undefined, undefined])
    report(bench, 1)
    bench.pass(1_000)
    report(bench, 0, 1)
    bench.pass(50)
    expect(rates(bench)).toEqual([50, 0])
    bench.pass(950)
    expect(rates(bench)).toEqual([50, 50])
  })

  it('keeps its assignment for as long as it reports, without a gap', () => {
    const bench = benchOf([undefined, undefined])
    report(bench, 1, 1)
    bench.pass(2_000)
    for (let i = 0; i < 60; i++) {
      report(bench, 300, 100)
      bench.pass(5_000, () => expect(Math.min(...rates(bench))).toBeGreaterThan(0))
    }
    expect(rates(bench)).toEqual([75, 25])
  })

  it('without requests keeps a small share, and gets more after one report', () => {
    const bench = benchOf([undefined, undefined])
    report(bench, 1, 1)
    bench.pass(5_000)
    report(bench, 500, 0)
    bench.pass(5_000)
    expect(rates(bench)).toEqual([95, 5])
    report(bench, 500, 500)
    bench.pass(5_000)
    expect(rates(bench)[1]).toBeGreaterThan(35)
  })
})

it('acceptance 1.7: load of 80:20 is assigned 80:20 within two reports', () => {
  const bench = benchOf([undefined, undefined])
  report(bench, 1, 1)
  bench.pass(5_000)
  report(bench, 400, 100)
  bench.pass(5_000)
  report(bench, 400, 100)
  expect(rates(bench)).toEqual([80, 20])
})

it('a change of load is followed within two reports, small changes of shares are not sent', () => {
  const bench = benchOf([undefined, undefined])
  report(bench, 1, 1)
  for (const requests of [
    [400, 100],
    [400, 100],
    [405, 95],
    [395, 105],
  ]) {
    bench.pass(5_000)
    report(bench, ...requests)
  }
  bench.pass(1_000)
  expect(rates(bench)).toEqual([80, 20])
  for (let i = 0; i < 2; i++) {
    bench.pass(5_000)
    report(bench, 100, 400)
  }
  bench.pass(5_000)
  expect(rates(bench)[1]).toBeGreaterThan(70)
})

describe('what a proxy had whose stream is closed', () => {
  it('is free for others when its assignment has ended, and not before', () => {
    const bench = benchOf([undefined, undefined])
    report(bench, 1, 1)
    bench.pass(5_000)
    report(bench, 400, 100)
    bench.pass(5_000)
    const closedAt = bench.now
    bench.proxies[0]!.disconnect(bench, 0)
    for (let i = 0; i < 4; i++) {
      report(bench, 0, 100)
      bench.pass(5_000)
    }
    expect(rates(bench)).toEqual([80, 20])
    bench.pass(closedAt + SETTINGS.ttlMs + 1_000 - bench.now)
    expect(rates(bench)).toEqual([0, 100])
  })

  it('is its own at once where it comes back under its name', () => {
    const bench = benchOf(['edge-1', 'edge-2'])
    report(bench, 1, 1)
    bench.pass(5_000)
    report(bench, 400, 100)
    bench.pass(5_000)
    bench.proxies[0]!.restart(bench)
    bench.proxies[0]!.connect(bench, () => DELAY_MS)
    report(bench, 1)
    bench.pass(1_000)
    expect(sumOf(bench.rates(ALL)).perSecond).toBe(100)
    expect(rates(bench)[0]).toBeGreaterThanOrEqual(20)
  })
})

it('after a new start of the service, proxies that had assignments get new ones when all may be back', () => {
  const bench = new Bench(rules('key: [], limit: 100/second, assign: rlqs'), [
    new ModelProxy(),
    new ModelProxy(),
  ])
  for (const proxy of bench.proxies) proxy.known.add(JSON.stringify(ALL))
  bench.proxies[0]!.connect(bench, () => DELAY_MS)
  report(bench, 400)
  bench.pass(4_000)
  bench.proxies[1]!.connect(bench, () => DELAY_MS)
  bench.proxies[1]!.report(bench, ALL, 100)
  bench.pass(1_500, () => expect(rates(bench)).toEqual([0, 0]))
  bench.pass(1_000)
  expect(rates(bench)).toEqual([80, 20])
})

describe('a reload', () => {
  it('that changes the limit sends other assignments', () => {
    const bench = benchOf([undefined, undefined])
    report(bench, 1, 1)
    bench.pass(2_000)
    bench.assigner.useRules(rules('key: [], limit: 50/second, burst: 8, assign: rlqs'))
    bench.pass(1_000)
    expect(bench.rates(ALL)).toEqual([
      { perSecond: 25, burst: 4 },
      { perSecond: 25, burst: 4 },
    ])
    bench.assigner.useRules(rules('key: [], limit: 6000/minute, assign: rlqs'))
    bench.pass(1_000)
    expect(bench.rates(ALL)).toEqual([
      { perSecond: 50, burst: 3_000 },
      { perSecond: 50, burst: 3_000 },
    ])
  })

  it('that removes the limit makes proxies forget the bucket', () => {
    const bench = benchOf([undefined])
    report(bench, 1)
    bench.pass(1_000)
    bench.assigner.useRules(rules('key: [], limit: 100/second'))
    bench.pass(1_000)
    expect(bench.proxies[0]!.buckets.size).toBe(0)
    expect(bench.assigner.buckets).toBe(0)
    report(bench, 1)
    expect(bench.assigner.passedOver.unknown).toBe(1)
  })
})

describe('a bucket without requests', () => {
  it('is forgotten, and assigned anew when it is asked for', () => {
    const bench = benchOf([undefined], undefined, { idleMs: 60_000 })
    report(bench, 1)
    for (let i = 0; i < 11; i++) {
      bench.pass(5_000)
      report(bench, 0)
    }
    bench.pass(20_000)
    expect(bench.proxies[0]!.known.size).toBe(0)
    expect(bench.assigner.buckets).toBe(0)
    report(bench, 1)
    bench.pass(100)
    expect(rates(bench)).toEqual([100])
  })

  it('is kept until it is full again: forgotten before, it would be full at once', () => {
    const bench = benchOf([undefined], 'key: [], limit: 10/hour, assign: rlqs', { idleMs: 60_000 })
    report(bench, 1)
    bench.pass(3_590_000)
    expect(bench.proxies[0]!.buckets.size).toBe(1)
    bench.pass(30_000)
    expect(bench.proxies[0]!.buckets.size).toBe(0)
  })
})

it('where there are fewer units at once than proxies, some refuse all', () => {
  const bench = benchOf(
    [undefined, undefined, undefined],
    'key: [], limit: 100/second, burst: 2, assign: rlqs',
  )
  report(bench, 1, 1, 1)
  bench.pass(2_000)
  const assigned = bench.proxies.map(({ buckets }) => buckets.get(JSON.stringify(ALL))!.assignment)
  expect(assigned.filter((each) => each === 'DENY_ALL')).toHaveLength(1)
  expect(sumOf(bench.rates(ALL)).burst).toBe(2)
})

it('whoever is exempt is let through, and a limit of 0 refuses', () => {
  for (const [limit, bucket, expected] of [
    ['key: [user], limit: 1/second, exempt: [root], assign: rlqs', { ...ALL, user: 'root' }, 'ALLOW_ALL'],
    ['key: [], limit: 0/day, assign: rlqs', ALL, 'DENY_ALL'],
  ] as const) {
    const bench = benchOf([undefined], limit)
    bench.proxies[0]!.report(bench, bucket, 1)
    bench.pass(25_000)
    const { assignment, until } = bench.proxies[0]!.buckets.get(JSON.stringify(bucket))!
    expect(assignment).toBe(expected)
    expect(until - bench.now).toBeGreaterThan(SETTINGS.ttlMs / 2)
  }
})

describe('bounds', () => {
  it('refuse streams and pass over buckets beyond them', () => {
    const bench = new Bench(
      rules('key: [user], limit: 1/second, assign: rlqs'),
      [new ModelProxy(), new ModelProxy()],
      {
        maxStreams: 1,
        maxBuckets: 3,
      },
    )
    expect(bench.proxies.map((proxy) => proxy.connect(bench, () => 0))).toEqual([true, false])
    for (let i = 0; i < 5; i++) bench.proxies[0]!.report(bench, { ...ALL, user: `u${i}` }, 1)
    expect(bench.assigner.buckets).toBe(3)
    expect(bench.assigner.passedOver['too many']).toBe(2)
    bench.proxies[0]!.disconnect(bench, 0)
    expect(bench.assigner.buckets).toBe(3) // their proxy may still go by them
    bench.pass(31_000)
    expect(bench.assigner.buckets).toBe(0)
    expect([...bench.assigner.counters]).toEqual([])
  })

  it('pass over ids and domains that are too long', () => {
    const bench = benchOf([undefined])
    const { stream } = bench.proxies[0]!
    const usage = { elapsedMs: 0, allowed: 1, denied: 0 }
    bench.assigner.report(
      stream!,
      'edge',
      [
        { ...usage, bucket: {} },
        { ...usage, bucket: { limit: 'x'.repeat(2_000) } },
      ],
      0,
    )
    bench.assigner.report(stream!, 'e'.repeat(257), [{ ...usage, bucket: ALL }], 0)
    expect(bench.assigner.passedOver.unreadable).toBe(3)
  })
})

it('requests that proxies report are counted by the names of policies', () => {
  const bench = benchOf([undefined])
  bench.proxies[0]!.report(bench, ALL, 1)
  bench.proxies[0]!.report(bench, ALL, 70, 5)
  expect(bench.assigner.uses.all).toEqual([
    { domain: 'edge', policy: 'all', allowed: 71, denied: 5, missing: 0 },
  ])
})
