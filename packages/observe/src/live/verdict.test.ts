import type { OffenderList } from '@sluice/limiter/offenders'
import { describe, expect, test } from 'vitest'
import { durationText, msText, perSecondText, shareText } from './figure-text.ts'
import type { LivePolicy, LiveSecond, LiveStore } from './live-second.ts'
import { LiveWindow, summaryOf } from './live-window.ts'
import { verdictOf } from './verdict.ts'

const MEMORY: LiveStore = { kind: 'memory', breaker: null, failures: 0, latency: null, keys: 1 }
const SHARED: LiveStore = { kind: 'shared', breaker: 'closed', failures: 0, latency: null, keys: null }

function policy(name: string, counts: Partial<LivePolicy>): LivePolicy {
  const none = { allowed: 0, limited: 0, shadow: 0, deprioritized: 0, degraded: 0 }
  return { domain: 'shop', policy: name, ...none, fullness: Array(11).fill(0), ...counts }
}

function windowOf(allowed: number, denied: number, policies: LivePolicy[], store = MEMORY): LiveWindow {
  const requests = { allowed, denied, degraded: 0 }
  const second: LiveSecond = {
    at: 0,
    requests,
    totals: requests,
    latency: null,
    store,
    rules: { version: 'v', since: 0, mistake: null },
    policies,
    policiesLeftOut: 0,
  }
  const window = new LiveWindow()
  window.add(second)
  return window
}

const LISTS: OffenderList[] = [
  {
    domain: 'shop',
    policy: 'login',
    window: '5m',
    since: 0,
    denied: { total: 5, unlisted: 1, keys: [{ key: '203.0.113.7', atLeast: 4, atMost: 5 }] },
    busiest: { total: 9, unlisted: 0, keys: [] },
    routes: { total: 0, unlisted: 0, keys: [] },
  },
]

const textOf = (windows: readonly LiveWindow[], lists: readonly OffenderList[] = []): string =>
  verdictOf(summaryOf(windows), lists)
    .map((part) => (typeof part === 'string' ? part : part.name))
    .join('')

describe('the sentence', () => {
  test.each<[string, LiveWindow[], string]>([
    ['before the first second', [new LiveWindow()], 'No figures yet.'],
    ['without requests', [windowOf(0, 0, [])], 'No requests in the last minute. The store (memory) is well.'],
    [
      'where one limit refuses',
      [windowOf(5, 3, [policy('login', { allowed: 5, limited: 3 })])],
      'login refused 38 % of its requests in the last minute, most of all from 203.0.113.7. The store (memory) is well.',
    ],
    [
      'where several do',
      [windowOf(5, 5, [policy('a', { limited: 1 }), policy('b', { limited: 4 })], SHARED)],
      'b refused 100 % of its requests in the last minute; 1 other limit refused too. The store is well.',
    ],
    [
      'where one would, in shadow mode',
      [windowOf(5, 0, [policy('new', { allowed: 1, shadow: 4 })])],
      'All 5 requests of the last minute were admitted. new, in shadow mode, would have refused 4. The store (memory) is well.',
    ],
    [
      'where the store fails',
      [windowOf(1, 4, [policy('login', { degraded: 5 })], { ...SHARED, breaker: 'open', failures: 5 })],
      '4 of the 5 requests of the last minute were refused without the store. The store does not answer: each limit decides by its on_store_error.',
    ],
    [
      'of several nodes is about all, and the store that is worst off',
      [
        windowOf(1, 1, [policy('login', { allowed: 1, limited: 1 })], SHARED),
        windowOf(1, 1, [policy('login', { allowed: 1, limited: 1 })], { ...SHARED, failures: 2 }),
      ],
      'login refused 50 % of its requests in the last minute, most of all from 203.0.113.7. The store fails at times.',
    ],
  ])('%s', (_, windows, text) => {
    expect(textOf(windows, LISTS)).toBe(text)
  })
})

test('a window keeps the last minute in full, and a quarter of an hour in rows', () => {
  const window = new LiveWindow()
  const second = windowOf(1, 0, []).last!
  for (let at = 0; at < 1_000; at++) window.add({ ...second, at })
  expect([window.seconds.length, window.seconds[0]!.at]).toEqual([60, 940])
  expect([window.rows.length, window.rows[0]![0]]).toEqual([900, 100])
})

test('figures are written for people', () => {
  expect([0, 0.4, 9.96, 1_234.5].map(perSecondText)).toEqual(['0', '0.4', '10.0', '1,235'])
  expect([shareText(0, 0), shareText(1, 1_000), shareText(1, 3), shareText(999, 1_000)]).toEqual([
    '–',
    '< 1 %',
    '33 %',
    '> 99 %',
  ])
  expect([null, 0.0123, 0.5, 4.567, 2_000].map(msText)).toEqual(['–', '12 µs', '500 µs', '4.57 ms', '2 s'])
  expect([null, 0, 0.2, 999, 60_000, 260_000, 90_061_000].map(durationText)).toEqual([
    'never',
    '0',
    '1 ms',
    '999 ms',
    '1 min',
    '4 min 20 s',
    '1 d 1 h',
  ])
})
