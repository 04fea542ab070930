import type { Domain } from '@sluice/limiter/rules'
import { describe, expect, test } from 'vitest'
import { loadText } from '../load.ts'
import { exportRules, exportTargets } from './export.ts'
import { identifierOf } from './identifier.ts'
import { exported, HOSTILE_NAMES } from './proxies.test-support.ts'

/** What is said of a limit that is written so. */
function said(target: (typeof exportTargets)[number], fields: string, more = ''): string[] {
  const { notes } = exported(target, `domain: shop\nlimits:\n  - { name: one, ${fields} }\n${more}`)
  return notes
    .filter(({ rule }) => rule === 'one')
    .map(({ exported, message }) => `${exported ? 'differs' : 'missing'}: ${message}`)
}

const EVERYTHING = `domain: shop
limits:
  - { name: api, key: [ip], limit: 10/second, burst: 20 }
  - { name: minute, key: [], limit: 100/minute, algorithm: sliding-window-counter }
  - { name: slots, key: ["header:x-user"], limit: 5/1m, algorithm: concurrency }
descriptors:
  - { key: user, rate_limit: { unit: minute, requests_per_unit: 5 } }
network:
  - { name: syn, port: [80, 443], key: [ip], limit: 20/second }
`

describe('what is exported', () => {
  test.each(exportTargets)('acceptance 2.7: rules have their names in the comments of %s', (target) => {
    const { text, notes } = exported(target, EVERYTHING)
    const comments = text.split('\n').filter((line) => line.trimStart().startsWith('#'))
    const names = target === 'nftables' ? ['syn'] : ['api']
    for (const name of names) expect(comments.join('\n')).toContain(`# "${name}": `)
    for (const { rule } of notes) expect(comments.join('\n')).toContain(`# "${rule}" `)
  })

  test.each(exportTargets)('acceptance 2.7: unchanged rules give byte-equal files for %s', (target) => {
    const { text } = exported(target, EVERYTHING)
    expect(exported(target, EVERYTHING).text).toBe(text)
    expect(exported(target, EVERYTHING.replace('domain: shop', '# moved\n\ndomain: shop')).text).toBe(text)
  })

  test.each(exportTargets)('a rule in front of others changes nothing of theirs for %s', (target) => {
    const first = 'limits:\n  - { name: first, key: [ip], when: { path: /first }, limit: 1/second }\n'
    const kept = (text: string) =>
      text.split('\n').filter((line) => /zone=|backend |"value"|^ {2}set /.test(line))
    const after = kept(
      exported(
        target,
        EVERYTHING.replace('limits:\n', first).replace(
          'network:\n',
          'network:\n  - { name: first, port: 1, key: [ip], limit: 1/second }\n',
        ),
      ).text,
    )
    const before = kept(exported(target, EVERYTHING).text)
    for (const line of before.slice(0, 2)) expect(after).toContain(line)
  })

  test.each(exportTargets)('names end no line, comment or text of %s', (target) => {
    for (const name of HOSTILE_NAMES) {
      const text = (written: string): string =>
        exported(
          target,
          `domain: shop
limits:
  - { name: ${JSON.stringify(written)}, key: [ip], limit: 10/second, algorithm: ${target === 'haproxy' ? 'sliding-window-counter' : 'gcra'} }
network:
  - { name: ${JSON.stringify(written)}, port: 80, key: [ip], limit: 20/second }
`,
        ).text
      const lines = text(name).split('\n')
      const plain = text('plain').split('\n')
      expect(lines).toHaveLength(plain.length)
      const code = (all: readonly string[]) =>
        all.filter((line) => !line.trimStart().startsWith('#')).join('\n')
      const restored = code(lines).replaceAll(JSON.stringify(name), '"plain"')
      expect(restored.replaceAll(identifierOf(name), 'plain')).toBe(code(plain))
      for (const line of lines.filter((each) => each.trimStart().startsWith('#')))
        expect(line).not.toMatch(/\\$|[^ -~]/)
    }
  })

  test('a domain, a descriptor and a message of the rulebook end no comment', () => {
    const rulebook = `domain: "a\\u202eb ü"\ndescriptors:\n  - { key: "k\\r\\nlimit_req off;\\\\", rate_limit: { unit: day, requests_per_unit: 1 } }\n`
    const { text } = exported('nginx', rulebook)
    expect(text).toContain('"a\\u202eb \\u00fc"')
    expect(text).not.toMatch(/^limit_req off/m)
    expect(text.split('\n').filter((line) => line.includes('limit_req off'))).toEqual([
      expect.stringMatching(/^# /),
    ])
  })
})

describe('what is not exported', () => {
  test.each([
    ['key: [ip], limit: 300/3h', /^missing: 300 in 3h is 1\.667 a minute, and nginx has whole rates/],
    ['key: [user], limit: 5/minute', /^missing: it counts by "user", which a proxy cannot read/],
    [
      'key: [ip], limit: 5/minute, algorithm: sliding-window-log',
      /^missing: its window slides.*up to 9 would pass in 1m.*admits 5/,
    ],
    [
      'key: [ip], limit: { by: plan, a: 1/second, otherwise: 2/second }',
      /^missing: it has a quota for each plan/,
    ],
    ['key: ["query:q"], limit: 5/minute', /^missing: it counts by "query:q", which has many spellings/],
    ['key: [ip/20], limit: 5/minute', /^missing: it counts by ip\/20, and nginx can take whole bytes/],
    ['key: [ip], limit: 0/minute', /^missing: it refuses everything/],
    ['key: [ip], limit: 5/minute, cost: 2', /^missing: a request costs 2/],
    ['key: [ip], limit: 5/minute, cost: "header:x-cost"', /^missing: a request costs header:x-cost/],
    ['key: [ip], limit: 5/minute, mode: shadow', /^missing: it only reports/],
    ['key: [ip], limit: 5/minute, on_limit: deprioritize', /^missing: it lowers a priority/],
    [
      'key: [ip], limit: 5/minute, block: { after: 10, within: 1m, for: 15m }',
      /^missing: it refuses for 15m after 10 refusals/,
    ],
    [
      'key: [ip], limit: 5/minute, overrides: [{ match: 192.0.2.1, limit: 9/minute }]',
      /^missing: it has other limits for some callers/,
    ],
    [
      'key: [ip], limit: 5/calendar-day, algorithm: fixed-window',
      /^missing: its period is one of the calendar/,
    ],
    ['key: [ip], limit: 5/minute, refill: interval', /^missing: its tokens come all at once/],
    ['key: [ip], when: { path: "/a/**/b/**" }, limit: 5/minute', /^missing: its path has/],
    ['key: [ip], when: { query: { a: b } }, limit: 5/minute', /^missing: it compares a parameter/],
    ['key: ["header:x_user"], limit: 5/minute', /^missing: nginx has one variable for x_user/],
    ['key: ["header:x-user"], limit: 5/minute, exempt: [ada]', /^missing: some values of its key are exempt/],
  ])('acceptance 2.5: nginx, %s', (fields, reason) => {
    expect(said('nginx', fields)).toEqual([expect.stringMatching(reason)])
  })

  test.each([
    ['haproxy', 'key: [ip], limit: 5/minute, algorithm: sliding-window-log', /up to 9 would pass in 1m/],
    ['haproxy', 'key: [ip], limit: 5/minute, algorithm: leaky-bucket', /holds requests back/],
    ['haproxy', 'key: [ip], limit: 5/30d', /HAProxy has at most 12 days/],
    ['envoy', 'key: [ip], limit: 5/minute, algorithm: sliding-window-counter', /its window slides/],
    ['envoy', 'key: [ip], limit: 5/minute, algorithm: concurrency', /requests at one time/],
    ['envoy', 'key: ["cookie:s"], limit: 5/minute', /cannot read one/],
    ['envoy', 'key: [ip], limit: 5/minute, exempt: [192.0.2.1]', /no exceptions/],
    ['envoy', 'key: [host], limit: 5/minute', /host:port/],
  ] as const)('%s, %s', (target, fields, reason) => {
    expect(said(target, fields)).toEqual([expect.stringMatching(reason)])
  })

  test('HAProxy follows a request by three counters', () => {
    const limits = [1, 2, 3, 4].map(
      (n) => `  - { name: n${n}, key: [], limit: 5/minute, algorithm: fixed-window }\n`,
    )
    const { notes } = exported('haproxy', `domain: d\nlimits:\n${limits.join('')}`)
    expect(notes.filter(({ exported }) => !exported)).toEqual([
      expect.objectContaining({ rule: 'n4', message: expect.stringContaining('3 counters') }),
    ])
  })

  test('acceptance 7.8: of requests a firewall sees nothing, and it has no uneven rates', () => {
    const { notes } = exported(
      'nftables',
      EVERYTHING.concat('  - { name: uneven, port: 1, key: [], limit: 10/7s }\n'),
    )
    expect(notes.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
      'api: a firewall sees ports and addresses, not requests',
      'minute: a firewall sees ports and addresses, not requests',
      'slots: a firewall sees ports and addresses, not requests',
      'user: what makes its descriptors is in the configuration of the proxy',
      'uneven: 10 in 7s is no whole number per second, minute, hour or day',
    ])
  })

  test('the one that another replaces', () => {
    const more = '  - { name: two, key: [ip], limit: 9/minute, when: { path: /a }, replaces: [one] }\n'
    expect(said('envoy', 'key: [ip], limit: 5/minute', more)).toEqual([
      'missing: "two" replaces it for some requests',
    ])
  })
})

describe('what differs', () => {
  test.each([
    [
      'nginx',
      'key: [ip], limit: 5/minute',
      ['nginx keeps rates in thousandths of a request per second: 4.98 a minute, 0.4 % fewer'],
    ],
    ['nginx', 'key: [ip], limit: 60/minute', []],
    ['envoy', 'key: [ip], limit: 300/3h', []],
    [
      'envoy',
      'key: [ip], limit: 7/second, algorithm: fixed-window',
      ['up to 13 within 1s after a pause, where the rule admits 7 in a window, and 14 around the end of one'],
    ],
    [
      'haproxy',
      'key: [ip], limit: 5/minute, algorithm: gcra',
      ['waits up to 72 s, where the rule has it wait 12 s'],
    ],
    [
      'haproxy',
      'key: [ip], limit: 5/minute, algorithm: fixed-window',
      ['the next 5 come one by one over 1m'],
    ],
    [
      'nginx',
      'key: [ip], limit: 60/minute, soft: 80%, jitter: 10%, tarpit: 2s, retry_after: date',
      ['from 80% on', 'no jitter', 'for 2s', 'Retry-After has the form'],
    ],
  ] as const)('%s, %s', (target, fields, differences) => {
    expect(said(target, fields)).toEqual(
      differences.map((text) =>
        expect.stringMatching(new RegExp(`^differs: .*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)),
      ),
    )
  })

  test('every note has the place of its rule', () => {
    for (const target of exportTargets) {
      for (const { source } of exported(target, EVERYTHING).notes)
        expect(source).toMatchObject({ file: 'rulebook.yaml', line: expect.any(Number) })
    }
  })
})

describe('exportRules', () => {
  const [domain] = loadText(EVERYTHING) as [Domain]

  test('bounds and names what it is given', () => {
    expect(() => exportRules('ngnix' as 'nginx', domain)).toThrow(
      'no target is named "ngnix"; did you mean nginx?',
    )
    expect(() => exportRules('nginx', domain, { format: 'json' })).toThrow('nginx has one format only')
    expect(() => exportRules('nftables', domain, { format: 'iptable' })).toThrow('did you mean iptables?')
    expect(() => exportRules('nginx', domain, { keys: 0 })).toThrow('keys must be')
    expect(() => exportRules('nginx', domain, { keys: 1e8 })).toThrow('keys must be at most 10000000')
    expect(() => exportRules('nginx', domain, { key: 1 } as object)).toThrow('did you mean keys?')
  })

  test('tables are as large as is asked for', () => {
    const text = (target: (typeof exportTargets)[number], keys: number) =>
      exportRules(target, domain, { keys }).text
    expect(text('nginx', 1_000_000)).toContain('zone=sluice_api:123m')
    expect(text('haproxy', 5_000)).toContain(' size 5000 ')
    expect(text('envoy', 5_000)).toContain('max_dynamic_descriptors: 5000\n')
    expect(text('nftables', 5_000)).toContain('size 5000;')
  })
})
