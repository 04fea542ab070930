import { describe, expect, test } from 'vitest'
import { loadText } from '../load.ts'
import { formatProblem, RulebookError } from '../problem.ts'

function rulebook(...rules: string[]): string {
  return `domain: d\nnetwork:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`
}

function mistakes(text: string): string[] {
  try {
    loadText(text)
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems.map(formatProblem)
  }
}

describe('a network rule', () => {
  test('has its defaults, or all that it says', () => {
    const [domain] = loadText(
      rulebook(
        'name: syn, port: 443, key: [ip], limit: 20/second',
        'name: dns, protocol: udp, port: [53, "5353-5355"], key: [ip/24/56], count: packets, limit: 100/1m, burst: 10, on_full: closed, exempt: [10.0.0.0/8]',
        'name: open, port: 80, key: [], count: open, limit: 20, on_limit: reset',
      ),
    )
    expect(domain).toMatchObject({ limits: [], descriptors: [] })
    expect(domain!.network).toEqual([
      {
        name: 'syn',
        protocol: 'tcp',
        port: ['443'],
        key: ['ip'],
        count: 'connections',
        limit: 20,
        period: 1_000,
        burst: 20,
        onLimit: 'drop',
        onFull: 'open',
        exempt: [],
        source: { file: 'rulebook.yaml', line: 3, column: 5 },
      },
      expect.objectContaining({
        protocol: 'udp',
        port: ['53', '5353-5355'],
        key: ['ip/24/56'],
        count: 'packets',
        limit: 100,
        period: 60_000,
        burst: 10,
        onFull: 'closed',
        exempt: ['10.0.0.0/8'],
      }),
      expect.objectContaining({ count: 'open', limit: 20, onLimit: 'reset' }),
    ])
    expect(domain!.network![2]).not.toHaveProperty('period')
  })

  test.each([
    [
      'name: a, port: 80, key: [ip], limit: 5/second, bust: 5',
      /:3:54: unknown field "bust" \(did you mean "burst"\?\)/,
    ],
    ['name: a, key: [ip], limit: 5/second', /"port" is missing/],
    ['name: a, port: 0, key: [ip], limit: 5/second', /"port" must be at least 1, not 0/],
    ['name: a, port: 65536, key: [ip], limit: 5/second', /"port" must be at most 65535, not 65536/],
    ['name: a, port: 90-80, key: [ip], limit: 5/second', /"90-80" is not a port from 1 to 65535/],
    ['name: a, port: "80; accept", key: [ip], limit: 5/second', /"80; accept" is not a port/],
    [
      'name: a, port: [1-2, 3-4, 5-6, 7-8, 9-10, 11-12, 13-14, 15-16], key: [ip], limit: 5/second',
      /more than 15 ports/,
    ],
    ['name: a, port: 80, key: [user], limit: 5/second', /"user" cannot be seen by a firewall/],
    ['name: a, port: 80, key: [ip/200], limit: 5/second', /is no part of a key/],
    ['name: a, port: 80, key: [ip, ip/24], limit: 5/second', /"key" must not be longer than 1/],
    ['name: a, port: 80, key: [ip], limit: 5', /needs a period: write COUNT\/PERIOD/],
    ['name: a, port: 80, key: [ip], limit: 5/secnd', /did you mean "5\/second"/],
    ['name: a, port: 80, key: [ip], count: open', /"limit" is missing/],
    ['name: a, port: 80, key: [ip], limit: 5/calendar-day', /cannot be a calendar period/],
    ['name: a, port: 80, key: [ip], limit: 5/100us', /needs a period of whole milliseconds/],
    ['name: a, port: 80, key: [ip], limit: 0/second', /0 would refuse everything/],
    ['name: a, port: 80, key: [ip], limit: 5000000000/second', /more than 2\^32−1/],
    ['name: a, port: 80, key: [ip], count: open, limit: 5/second', /needs a number without a period/],
    ['name: a, port: 80, key: [ip], count: open, limit: 5, burst: 5', /has no effect with count: open/],
    [
      'name: a, port: 80, key: [ip], count: opn, limit: 5, burst: 5',
      /"count" must be one of connections, packets, open, not "opn" \(did you mean "open"\?\)/,
    ],
    ['name: a, protocol: udp, port: 80, key: [ip], count: open, limit: 5', /open needs tcp/],
    ['name: a, protocol: udp, port: 80, key: [ip], limit: 5/second, on_limit: reset', /reset needs tcp/],
    ['name: a, port: 80, key: [], limit: 5/second, on_full: closed', /no effect without a key/],
    [
      'name: a, port: 80, key: [ip], limit: 5/second, exempt: [office]',
      /"office" is not an address or a range/,
    ],
    ['name: "a\\u00e9", port: 80, key: [ip], limit: 5/second', /must be 1 to 64 printable ASCII characters/],
  ])('%s is a mistake', (rule, message) => {
    expect(mistakes(rulebook(rule))).toEqual([expect.stringMatching(message)])
  })

  test('has a name of its own; a limit may have the same', () => {
    const one = 'name: a, port: 80, key: [ip], limit: 5/second'
    expect(mistakes(rulebook(one, one))).toEqual([
      'rulebook.yaml:4:13: a network rule is named "a" already, at rulebook.yaml:3:5',
    ])
    expect(mistakes(`${rulebook(one)}limits:\n  - { name: a, key: [ip], limit: 5/second }\n`)).toEqual([])
  })

  test('several mistakes, of rules of all kinds, are reported together', () => {
    const text = `${rulebook('name: a, port: 80, key: [ip], limit: 5/secnd', 'name: b, port: x, key: [ip], limit: 5/second')}limits:\n  - { name: c, key: [usr], limit: 5/second }\n`
    expect(mistakes(text).map((line) => line.slice(0, 16))).toEqual([
      'rulebook.yaml:3:',
      'rulebook.yaml:4:',
      'rulebook.yaml:6:',
    ])
  })

  test('an empty list is a mistake, as a file without rules is', () => {
    expect(mistakes('domain: d\nnetwork: []\n')).toEqual([
      expect.stringMatching(/"network" must not be empty/),
    ])
    expect(mistakes('domain: d\n')).toEqual([expect.stringMatching(/no limits and no descriptors follow/)])
  })
})
