import { algorithms } from '@sluice/limiter/algorithms'
import type { Limit } from '@sluice/limiter/rules'
import { describe, expect, it } from 'vitest'
import { formatProblem, loadText, RulebookError } from '../index.ts'

/** A file of one limit; its fields begin on line 3. */
const fileOf = (fields: string): string => `domain: shop\nlimits:\n  - ${fields.replaceAll('\n', '\n    ')}\n`
const limitOf = (fields: string): Limit => loadText(fileOf(fields), 'f')[0]!.limits[0]!
const problemsOf = (fields: string): string[] => {
  try {
    loadText(fileOf(fields), 'f')
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems.map(formatProblem)
  }
}

describe('a limit', () => {
  it('needs a name, a key and a quota, and has defaults for the rest', () => {
    expect(limitOf('name: login\nkey: [ip]\nlimit: 5/minute')).toEqual({
      name: 'login',
      key: ['ip'],
      limit: { limit: 5, period: 60_000 },
      algorithm: 'token-bucket',
      onLimit: 'deny',
      mode: 'enforce',
      onStoreError: 'open',
      onMissingKey: 'skip',
      cost: 1,
      exempt: [],
      overrides: [],
      replaces: [],
      source: { file: 'f', line: 3, column: 5 },
    })
  })

  it('may count everyone in one bucket, but says so', () => {
    expect(limitOf('name: all\nkey: []\nlimit: 5/minute').key).toEqual([])
    expect(problemsOf('name: all\nlimit: 5/minute')).toEqual(['f:3:5: "key" is missing'])
  })

  it('reads percentages, durations and people', () => {
    const limit = limitOf(`name: a
key: [tenant, header:x-model]
limit: 100/hour
burst: 120
soft: 80%
jitter: 12.5%
block: { after: 10, within: 1m, for: 15m }
blockable: true
exempt: [10.0.0.0/8, acme]
overrides:
  - { match: big, limit: 900/hour }
  - { match: '2001:db8::/32', limit: 7/second, burst: 9 }`)
    expect(limit).toMatchObject({
      burst: 120,
      soft: 0.8,
      jitter: 0.125,
      block: { after: 10, within: 60_000, for: 900_000 },
      blockable: true,
      exempt: ['10.0.0.0/8', 'acme'],
      overrides: [
        { match: 'big', quota: { limit: 900, period: 3_600_000 } },
        { match: '2001:db8::/32', quota: { limit: 7, period: 1_000, burst: 9 } },
      ],
    })
  })

  it('has one quota, or one for each plan', () => {
    expect(
      limitOf(`name: a
key: [tenant]
limit: { by: plan, free: 100/hour, pro: { limit: 5000/hour, burst: 200 }, otherwise: 20/hour }`).limit,
    ).toEqual({
      by: 'plan',
      plans: {
        free: { limit: 100, period: 3_600_000 },
        pro: { limit: 5_000, period: 3_600_000, burst: 200 },
      },
      otherwise: { limit: 20, period: 3_600_000 },
    })
  })

  it('anchors its calendar periods, plans and overrides too', () => {
    const anchor = { day: 31, time: '02:30' }
    expect(
      limitOf(`name: a
key: [tenant]
algorithm: fixed-window
limit: { by: plan, otherwise: 5/calendar-month@Europe/Paris }
overrides: [{ match: big, limit: 9/calendar-month }]
anchor: 31 02:30`),
    ).toMatchObject({
      limit: { otherwise: { limit: 5, period: { calendar: 'month', zone: 'Europe/Paris', anchor } } },
      overrides: [{ quota: { limit: 9, period: { calendar: 'month', anchor } } }],
    })
    const day = limitOf(
      'name: a\nkey: []\nalgorithm: fixed-window\nlimit: 5/calendar-month\nanchor: 31',
    ).limit
    expect(day).toMatchObject({ period: { anchor: { day: 31 } } })
  })

  it('has conditions of one value or several', () => {
    const { when } = limitOf(`name: a
key: []
limit: 5/minute
when:
  method: [get, POST]
  path: /search/**
  host: ['*.Example.com', '[2001:db8::1]']
  header: { X-Env: prod }
  query: { q: [a, b] }
  ip: [192.0.2.7, 10.0.0.0/8]`)
    expect(when).toEqual({
      method: ['GET', 'POST'],
      path: ['/search/**'],
      host: ['*.example.com', '[2001:db8::1]'],
      header: { 'x-env': ['prod'] },
      query: { q: ['a', 'b'] },
      ip: ['192.0.2.7', '10.0.0.0/8'],
    })
  })
})

describe('a limit that cannot be meant', () => {
  const SOUND = 'name: a\nkey: [user]\nlimit: 5/minute'

  it.each([
    ['name: ""\nkey: []\nlimit: 5/minute', '3:11: "name" must be 1 to 64 printable ASCII characters, not ""'],
    [
      'name: naïve\nkey: []\nlimit: 5/minute',
      '3:11: "name" must be 1 to 64 printable ASCII characters, not "naïve"',
    ],
    ['name: 404\nkey: []\nlimit: 5/minute', '3:11: "name" must be text, not 404: put it in quotes'],
    ['name: a\nkey: ip\nlimit: 5/minute', '4:10: "key" must be a list, not "ip"'],
    ['name: a\nkey: [ip, ip]\nlimit: 5/minute', '4:10: the key has a part twice'],
    ['name: a\nkey: [headr:x]\nlimit: 5/minute', '(did you mean "header:x"?)'],
    ['name: a\nkey: [usr]\nlimit: 5/minute', '(did you mean "user"?)'],
    ['name: a\nkey: [ip/129]\nlimit: 5/minute', '4:11: "ip/129" is no part of a key'],
    ['name: a\nkey: ["header:x y"]\nlimit: 5/minute', '4:11: "header:x y" is no part of a key'],
    [
      'name: a\nkey: []\nlimit: 5',
      '5:12: "limit" must be COUNT/PERIOD, such as 5/minute, or a map of plans, not 5',
    ],
    ['name: a\nkey: []\nlimit: [5/minute]', '5:12: "limit" must be COUNT/PERIOD'],
    ['name: a\nkey: []\nlimit: 5/calendar-day@Europe/Pari', '(did you mean "5/calendar-day@Europe/Paris"?)'],
    ['name: a\nkey: []\nlimit: { by: plan, free: 5/minute }', '5:5: "otherwise" is missing'],
    [
      'name: a\nkey: []\nlimit: { by: "header:plan", otherwise: 5/minute }',
      '"by" must be the name of an attribute, such as plan, not "header:plan"',
    ],
    [
      'name: a\nkey: []\nlimit: { by: plan, "": 5/minute, otherwise: 5/minute }',
      'a plan without a name can never match',
    ],
    [
      'name: a\nkey: []\nlimit: { by: plan, free: 5, otherwise: 5/minute }',
      '"free" must be COUNT/PERIOD, such as 5/minute, or a map of limit and burst, not 5',
    ],
  ])('%j', (fields, problem) => {
    expect(problemsOf(fields)).toEqual([expect.stringContaining(problem)])
  })

  it.each([
    [
      'algorithm: tokenbucket',
      `6:16: "algorithm" must be one of ${Object.keys(algorithms).join(', ')}, not "tokenbucket" (did you mean "token-bucket"?)`,
    ],
    ['algorithm: fixed-window\nburst: 9', '7:12: "burst" is not supported by fixed-window'],
    ['burst: 0', '6:12: "burst" must be at least 1, not 0'],
    ['rounding: up', '6:15: "rounding" is not supported by token-bucket'],
    ['algorithm: gcra\nrefill: interval', '7:13: "refill" is not supported by gcra'],
    ['on_limit: delay', '6:15: delay is not supported by token-bucket without soft'],
    [
      'on_limit: deprioritize\nblockable: true',
      '7:16: a rule that only lowers the priority refuses no request, so no key can be blocked',
    ],
    [
      'on_limit: deprioritize\nblock: { after: 1, within: 1m, for: 1m }',
      '7:12: a rule that only lowers the priority',
    ],
    [
      'spread: true',
      '6:13: spread is not supported by token-bucket: its windows begin with each key already',
    ],
    ['lease: 1', '6:12: "lease" must be at least 2, not 1'],
    ['lease: 6', '6:12: a lease of 6 never fits into 5'],
    ['cost: 3\nlease: 3', '7:12: the units taken ahead (3) must be more than the request cost (3)'],
    [
      'mode: shadow\nlease: 2',
      '7:12: taking units ahead needs a limit that is enforced, and this one is of role shadow',
    ],
    ['algorithm: leaky-bucket\nlease: 2', '7:12: taking units ahead is not supported by leaky-bucket'],
    [
      'block: { after: 1, within: 1m, for: 1m }\nlease: 2',
      '7:12: taking units ahead is not supported beside a block',
    ],
    ['assign: rlq', '6:13: "assign" must be rlqs, not "rlq" (did you mean "rlqs"?)'],
    [
      'algorithm: gcra\nassign: rlqs',
      '7:13: assigning is not supported by gcra: what proxies can keep is a token-bucket',
    ],
    ['refill: interval\nassign: rlqs', '7:13: assigning is not supported beside refill: interval'],
    [
      'mode: shadow\nassign: rlqs',
      '7:13: assigning needs a limit that is enforced, and this one is of role shadow',
    ],
    [
      'block: { after: 1, within: 1m, for: 1m }\nassign: rlqs',
      '7:13: assigning is not supported beside a block',
    ],
    ['soft: 50%\non_limit: delay\nassign: rlqs', '8:13: assigning is not supported beside on_limit: delay'],
    ['cost: 2\nassign: rlqs', '6:11: a limit that is assigned counts every request as 1'],
    ['cost: header:x-cost\nassign: rlqs', '6:11: a limit that is assigned counts every request as 1'],
    ['anchor: 02:30', '6:13: an anchor needs a calendar period'],
    ['cost: -1', '6:11: "cost" must be at least 0, not -1'],
    ['cost: 6', '6:11: a cost of 6 never fits into 5'],
    ['cost: heder:x', '6:11: cost "heder:x" is not a whole number'],
    ['cost: "header:x y"', '6:11: "header:x y" is no part'],
    ['soft: 80', '6:11: "soft" must be a percentage, such as 80%, not 80'],
    ['soft: 101%', '6:11: "101%" is not a percentage'],
    ['jitter: 0%', '6:13: "0%" is not a percentage'],
    ['jitter: -5%', '6:13: "-5%" is not a percentage'],
    ['block: { after: 10, within: 60, for: 15m }', '6:33: "within" must be a duration, such as 10m, not 60'],
    ['block: { after: 10, within: 1m }', '6:5: "for" is missing'],
    ['exempt: [""]', '6:14: item 1 of "exempt" must not be empty'],
    ['overrides: [{ match: big, limit: 5/minut }]', '(did you mean "5/minute"?)'],
    [
      'algorithm: fixed-window\noverrides: [{ match: big, limit: 5/minute, burst: 9 }]',
      '7:55: "burst" is not supported by fixed-window',
    ],
    ['when: {}', '6:11: there is no condition here'],
    ['when: { header: {} }', '6:21: there is no condition here'],
    ['when: { method: [] }', '6:21: "method" must not be empty'],
    ['when: { method: "GET /" }', '6:21: "GET /" is not a method'],
    ['when: { path: search }', '6:19: path "search" must begin with /'],
    ['when: { path: /a**b }', '6:19: path "/a**b" has ** within a segment'],
    ['when: { path: "/a?b" }', '6:19: path "/a?b" must hold no query'],
    ['when: { host: "a.example:443" }', '6:19: "a.example:443" is not a host'],
    ['when: { host: "https://a.example" }', '6:19: "https://a.example" is not a host'],
    ['when: { ip: 10.0.0.0/33 }', '6:17: "10.0.0.0/33" is not an address or a range'],
    ['when: { ip: 010.0.0.1 }', '6:17: "010.0.0.1" is not an address or a range'],
    ['when: { header: { "x y": a } }', '6:23: "x y" is not the name of a header'],
    ['when: { header: { X-A: a, x-a: b } }', '6:31: "x-a" is defined twice'],
    ['when: { header: { x-a: 1 } }', '6:28: "x-a" must be text or a list, not 1'],
  ])('%j', (fields, problem) => {
    expect(problemsOf(`${SOUND}\n${fields}`)).toEqual([expect.stringContaining(problem)])
  })

  it('names only people whom it could meet', () => {
    const byIp = 'name: a\nkey: [ip]\nlimit: 5/minute\n'
    expect(problemsOf(`${byIp}exempt: [acme]`)).toEqual([
      expect.stringContaining('6:14: "acme" is not an address or CIDR'),
    ])
    expect(problemsOf(`${byIp}overrides: [{ match: acme, limit: 5/minute }]`)).toEqual([
      expect.stringContaining('6:26: "acme" is not an address or CIDR'),
    ])
  })

  it('has its calendar period with fixed windows alone, all begun together', () => {
    expect(problemsOf('name: a\nkey: []\nlimit: 5/calendar-day')).toEqual([
      'f:5:12: a calendar period is not supported by token-bucket, only by fixed-window',
    ])
    expect(
      problemsOf('name: a\nkey: []\nlimit: 5/calendar-day\nalgorithm: fixed-window\nspread: true'),
    ).toEqual([
      'f:7:13: spread is not supported with a calendar period: it would move windows off the calendar',
    ])
    expect(
      problemsOf('name: a\nkey: []\nlimit: 5/calendar-day\nalgorithm: fixed-window\nanchor: 25:00'),
    ).toEqual([expect.stringContaining('f:7:13:')])
  })

  it.each([
    ['limit: 9007199254740991/day', '5:12:'],
    ['limit: { by: plan, big: 9007199254740991/day, otherwise: 5/day }', '5:29:'],
    ['limit: { by: plan, otherwise: 9007199254740991/day }', '5:35:'],
    ['limit: 5/day\noverrides: [{ match: big, limit: 9007199254740991/day }]', '6:38:'],
  ])('is too big to be kept exactly: %s', (fields, place) => {
    expect(problemsOf(`name: a\nkey: [user]\n${fields}`)).toEqual([
      expect.stringMatching(new RegExp(`^f:${place} .* cannot be kept exactly`)),
    ])
  })

  it('is told of all its mistakes, in their order', () => {
    expect(
      problemsOf('name: ""\nkey: [usr]\nlimits: 5/minute\nburst: 0').map((told) => told.split(' ')[0]),
    ).toEqual(['f:3:11:', 'f:4:11:', 'f:5:5:', 'f:6:12:'])
  })

  it('hides no mistake of another', () => {
    const text = `${fileOf('name: a\nkey: [usr]\nlimit: 5/minute')}  - name: b\n    key: [ip]\n    limit: 5/minut\nrules: []\n`
    try {
      loadText(text, 'f')
      expect.unreachable()
    } catch (error) {
      expect((error as RulebookError).problems.map(({ line }) => line)).toEqual([4, 8, 9])
    }
  })
})
