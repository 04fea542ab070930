import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { cutCounts, type KeyCounts, mergeCounts } from './key-counts.ts'
import { SpaceSaving } from './space-saving.ts'

const TRACES = new URL('../../../../lab/fixtures/traces/', import.meta.url)

/** The same numbers each time. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Keys as traces have them: a few come often, most once or twice. */
function zipf(count: number, seed: number): string[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => `k${Math.floor(1 / (random() + 1e-5))}`)
}

/** First those that are to be found, between keys that come once each, which take over counters all the time. */
function adversarial(count: number, seed: number): string[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, i) =>
    random() < 0.1 ? `often${Math.floor(random() * 3)}` : `once${seed}-${i}`,
  )
}

function exact(stream: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of stream) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function counted(stream: readonly string[], most: number): KeyCounts {
  const sketch = new SpaceSaving(most)
  for (const key of stream) sketch.add(key)
  return sketch.counts()
}

/** Every key that came more than N/most times is there, and no figure is wrong by more than `bound`. */
function expectWithin(counts: KeyCounts, stream: readonly string[], bound: number): void {
  const truth = exact(stream)
  expect(counts.total).toBe(stream.length)
  expect(counts.unlisted).toBeLessThanOrEqual(bound)
  const wrong = counts.keys.filter(({ key, atLeast, atMost }) => {
    const count = truth.get(key) ?? 0
    return atLeast > count || atMost < count || count - atLeast > bound || atMost - count > bound
  })
  expect(wrong).toEqual([])
  const listed = new Set(counts.keys.map(({ key }) => key))
  const missing = [...truth].filter(([key, count]) => count > counts.unlisted && !listed.has(key))
  expect(missing).toEqual([])
}

const STREAMS: readonly (readonly [string, (count: number, seed: number) => string[]])[] = [
  ['of few keys that come often', zipf],
  ['of keys that come once, to drive out others', adversarial],
]

describe.each(STREAMS)('Space-Saving, over a stream %s', (_, stream) => {
  test.each([1, 2, 10, 100])('is within N/m of exact counts, with m = %i', (most) => {
    const keys = stream(20_000, most)
    const counts = counted(keys, most)
    expect(counts.keys.length).toBe(Math.min(most, exact(keys).size))
    expectWithin(counts, keys, keys.length / most)
  })

  test('merged from parts of different lengths is within N/m of the whole, however often it is merged', () => {
    const most = 20
    const parts = [5, 3_000, 0, 40, 12_000, 700, 9_000].map((count, i) => stream(count, i + 1))
    const all = parts.flat()
    const summaries = parts.map((part) => counted(part, most))
    expectWithin(mergeCounts(summaries, most), all, all.length / most)
    const nested = summaries.reduce((sum, part) => mergeCounts([sum, part], most))
    expectWithin(nested, all, all.length / most)
  })

  test('cut to its first keys says what it leaves out', () => {
    const keys = stream(5_000, 7)
    const counts = counted(keys, 50)
    const cut = cutCounts(counts, 3)
    expect(cut.keys).toEqual(counts.keys.slice(0, 3))
    expect(cut.unlisted).toBe(counts.keys[3]!.atMost)
    expectWithin(cut, keys, cut.unlisted)
  })
})

test('with a counter for every key it is exact, and says so', () => {
  const counts = counted(['a', 'b', 'a', 'c', 'a', 'b'], 3)
  expect(counts).toEqual({
    total: 6,
    unlisted: 1, // another key would take over a counter that says 1
    keys: [
      { key: 'a', atLeast: 3, atMost: 3 },
      { key: 'b', atLeast: 2, atMost: 2 },
      { key: 'c', atLeast: 1, atMost: 1 },
    ],
  })
  expect(counted(['a', 'b', 'a'], 3).unlisted).toBe(0)
})

test('cleared, it counts anew', () => {
  const sketch = new SpaceSaving(2)
  for (const key of ['a', 'b', 'c', 'c']) sketch.add(key)
  sketch.clear()
  sketch.add('d')
  expect(sketch.counts()).toEqual({ total: 1, unlisted: 0, keys: [{ key: 'd', atLeast: 1, atMost: 1 }] })
})

describe('over the log of a real server', () => {
  const log = gunzipSync(readFileSync(new URL('nasa-1995-07-01.log.gz', TRACES))).toString('latin1')
  const hosts = log
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf(' ')))

  test.each([20, 100])(
    'acceptance 6.5: every host with more than N/%i requests is found, and figures are within it',
    (most) => {
      expect(hosts.length).toBeGreaterThan(9_000)
      expectWithin(counted(hosts, most), hosts, hosts.length / most)
    },
  )
})

/** Keys of the longest stream; SLUICE_SKETCH_KEYS=10000000 takes some seconds. */
const STREAM_KEYS = Number(process.env.SLUICE_SKETCH_KEYS ?? 1_000_000)

test('acceptance 6.5: of a stream of new keys, made to drive out the others, it is within N/m, in flat memory', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const most = 100
  const sketch = new SpaceSaving(most)
  const often = new Map<string, number>()
  const used: number[] = []
  for (let i = 0; i < STREAM_KEYS; i++) {
    // A tenth of all are seven keys, each in bursts, so that its counter is the lowest again and again.
    const key = i % 1_000 < 100 ? `often ${Math.floor(i / 1_000) % 7}` : `a key like any other ${i}`
    sketch.add(key)
    if (key.startsWith('often')) often.set(key, (often.get(key) ?? 0) + 1)
    if (i % (STREAM_KEYS / 10) === STREAM_KEYS / 20) {
      collect()
      used.push(process.memoryUsage().heapUsed)
    }
  }
  const { total, unlisted, keys } = sketch.counts()
  expect([total, keys.length]).toEqual([STREAM_KEYS, most])
  expect(unlisted).toBeLessThanOrEqual(STREAM_KEYS / most)
  const bound = STREAM_KEYS / most
  const wrong = keys.filter(({ key, atLeast, atMost }) => {
    const count = often.get(key) ?? 1
    return atLeast > count || atMost < count || count - atLeast > bound || atMost - count > bound
  })
  expect(wrong).toEqual([])
  const listed = new Set(keys.map(({ key }) => key))
  expect([...often].filter(([key, count]) => count > bound && !listed.has(key))).toEqual([])
  const growth = Math.max(...used) - used[0]!
  console.log(
    `${STREAM_KEYS} keys: the heap grew by ${growth} bytes; the bound is ${bound}, unlisted ${unlisted}`,
  )
  expect(growth).toBeLessThan(1_000_000)
})
