import type { Descriptor, DescriptorLimit } from '@sluice/limiter/rules'
import { describe, expect, it } from 'vitest'
import { formatProblem, loadText, RulebookError } from '../index.ts'

/** A file of one descriptor; its fields begin on line 3. */
const fileOf = (fields: string): string =>
  `domain: d\ndescriptors:\n  - ${fields.replaceAll('\n', '\n    ')}\n`
const descriptorOf = (fields: string): Descriptor => loadText(fileOf(fields), 'f')[0]!.descriptors[0]!
const rateLimitOf = (rateLimit: string): DescriptorLimit | undefined =>
  descriptorOf(`key: k\nrate_limit: ${rateLimit}`).rateLimit
const problemsOf = (fields: string): string[] => {
  try {
    loadText(fileOf(fields), 'f')
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems.map(formatProblem)
  }
}

describe('a descriptor', () => {
  it('needs a key, and has defaults for the rest', () => {
    expect(descriptorOf('key: k')).toEqual({
      key: 'k',
      shadowMode: false,
      quotaMode: false,
      detailedMetric: false,
      valueToMetric: false,
      shareThreshold: false,
      descriptors: [],
      source: { file: 'f', line: 3, column: 5 },
    })
  })

  it('takes scalars for the text they are written as', () => {
    expect(descriptorOf('key: 404\nvalue: 010')).toMatchObject({ key: '404', value: '010' })
    expect(descriptorOf('key: true\nvalue: 1.50')).toMatchObject({ key: 'true', value: '1.50' })
    expect(descriptorOf('key: on\nvalue: "yes"')).toMatchObject({ key: 'on', value: 'yes' })
  })

  it.each(['value:', 'value: ""', 'value: ~', 'rate_limit:', 'descriptors:'])(
    'may leave %j empty',
    (field) => {
      const { value, rateLimit, descriptors } = descriptorOf(`key: k\n${field}`)
      expect([value, rateLimit, descriptors]).toEqual([undefined, undefined, []])
    },
  )

  it('hands metadata on as it is', () => {
    const metadata = { a: [1, 2.5, 1_000, 'x', true, null], b: { c: '010' } }
    expect(
      descriptorOf('key: k\nmetadata: { a: [1, 2.5, 1e3, x, true, ~], b: { c: "010" } }').metadata,
    ).toEqual(metadata)
  })

  it('nests', () => {
    const { descriptors } = descriptorOf('key: k\ndescriptors:\n  - key: l\n    descriptors:\n      - key: m')
    expect(descriptors[0]!.descriptors[0]).toMatchObject({
      key: 'm',
      source: { file: 'f', line: 7, column: 13 },
    })
  })
})

describe('a rate limit', () => {
  it('counts in fixed windows unless it says otherwise', () => {
    expect(rateLimitOf('{ unit: minute, requests_per_unit: 5 }')).toEqual({
      algorithm: 'fixed-window',
      onLimit: 'deny',
      mode: 'enforce',
      onStoreError: 'open',
      unlimited: false,
      quota: { limit: 5, period: 60_000 },
      unit: 'minute',
      replaces: [],
    })
    expect(rateLimitOf('{ unit: day, requests_per_unit: 5, algorithm: gcra, burst: 9 }')).toMatchObject({
      algorithm: 'gcra',
      burst: 9,
    })
  })

  it.each([
    ['second', 1],
    ['minute', 60],
    ['HOUR', 3_600],
    ['Day', 86_400],
    ['week', 604_800],
    ['month', 2_592_000],
    ['year', 31_536_000],
  ])('%s is %d seconds', (unit, seconds) => {
    expect(rateLimitOf(`{ unit: ${unit}, requests_per_unit: 5 }`)).toMatchObject({
      quota: { limit: 5, period: seconds * 1_000 },
      unit: unit.toLowerCase(),
    })
  })

  it('may last several units, or a period of its own', () => {
    expect(rateLimitOf('{ unit: minute, unit_multiplier: 10, requests_per_unit: 5 }')?.quota?.period).toBe(
      600_000,
    )
    expect(rateLimitOf('{ period: 10s, requests_per_unit: 5 }')).toMatchObject({
      quota: { limit: 5, period: 10_000 },
    })
    expect(rateLimitOf('{ period: 10s, requests_per_unit: 5 }')).not.toHaveProperty('unit')
    expect(
      rateLimitOf('{ period: calendar-day@Asia/Tokyo, requests_per_unit: 5, anchor: 06:00 }')?.quota,
    ).toEqual({
      limit: 5,
      period: { calendar: 'day', zone: 'Asia/Tokyo', anchor: { time: '06:00' } },
    })
  })

  it('refuses all where it gives no number', () => {
    expect(rateLimitOf('{ unit: minute }')?.quota?.limit).toBe(0)
  })

  it('may be unlimited', () => {
    const unlimited = rateLimitOf(
      '{ unlimited: true, name: free, replaces: [{ name: free2 }] }\n  # and one to replace\ndescriptors: [{ key: l, rate_limit: { name: free2, unlimited: true } }]',
    )
    expect(unlimited).toMatchObject({ unlimited: true, name: 'free', replaces: ['free2'] })
    expect(unlimited).not.toHaveProperty('quota')
  })
})

describe('a descriptor that cannot be meant', () => {
  it.each([
    ['value: v', '3:5: "key" is missing'],
    ['key: ""', '3:10: "key" must not be empty'],
    ['key: k\nshare_threshold: true', '4:22: share_threshold needs a value with *, and "k" has none'],
    ['key: k\nshadow_mode: on', '4:18: "shadow_mode" must be true or false, not "on" (did you mean "true"?)'],
    ['key: k\nmetadata: { 1: a }', '4:17: a key must be text, not 1: put it in quotes'],
    ['key: k\ndescriptors: [a]', '4:19: item 1 of "descriptors" must be a map, not "a"'],
    ['key: k\ndescriptors: [{ key: l, descriptrs: [] }]', '(did you mean "descriptors"?)'],
  ])('%j', (fields, problem) => {
    expect(problemsOf(fields)).toEqual([expect.stringContaining(problem)])
  })

  it.each([
    ['{ requests_per_unit: 5 }', '4:5: "unit" is missing'],
    ['{ unit: , requests_per_unit: 5 }', '4:19: "unit" is empty'],
    ['{ unit: seconds, requests_per_unit: 5 }', '"seconds" is not a unit; units are'],
    ['{ unit: minute, period: 10s, requests_per_unit: 5 }', '4:19: "unit" has no effect beside period'],
    [
      '{ unit_multiplier: 2, period: 10s, requests_per_unit: 5 }',
      '4:19: "unit_multiplier" has no effect beside period',
    ],
    ['{ unit: year, unit_multiplier: 286, requests_per_unit: 5 }', '4:48:'],
    ['{ unit: day, requests_per_unit: 5, burst: 9 }', '4:59: "burst" is not supported by fixed-window'],
    [
      '{ unit: day, requests_per_unit: 9007199254740991, algorithm: gcra }',
      '4:49: 9007199254740991 units over',
    ],
    [
      '{ period: calendar-day, algorithm: gcra, requests_per_unit: 5 }',
      '4:77: a calendar period is not supported by gcra',
    ],
    ['{ unit: day, anchor: 02:30 }', '4:38: an anchor needs a calendar period'],
    ['{ unit: day, requests_per_unit: 5, lease: 6 }', '4:59: a lease of 6 never fits into 5'],
    [
      '{ unit: day, requests_per_unit: 5, assign: rlqs }',
      '4:60: assigning is not supported by fixed-window: what proxies can keep is a token-bucket',
    ],
    ['{ unlimited: true, lease: 2 }', '4:36: "lease" has no effect beside unlimited'],
    ['{ unlimited: true, burst: 9 }', '4:36: "burst" has no effect beside unlimited'],
    ['{ unit: day, name: ä }', '4:36: "ä" is not a name'],
    ['{ unit: day, name: "" }', '4:36: "name" must not be empty'],
    ['{ unit: day, replaces: [a] }', '4:41: item 1 of "replaces" must be a map, not "a"'],
    ['{ unit: day, replaces: [{}] }', '4:41: "name" is missing'],
  ])('%s', (rateLimit, problem) => {
    expect(problemsOf(`key: k\nrate_limit: ${rateLimit}`)).toEqual([expect.stringContaining(problem)])
  })

  it.each(['shadow_mode', 'quota_mode'])('a lease beside %s', (flag) => {
    const rateLimit = '{ unit: day, requests_per_unit: 50, lease: 5 }'
    expect(problemsOf(`key: k\n${flag}: true\nrate_limit: ${rateLimit}`)).toEqual([
      `f:5:60: a lease does not go with ${flag}`,
    ])
  })

  it.each(['shadow_mode', 'quota_mode'])('assign beside %s', (flag) => {
    const rateLimit = '{ unit: day, requests_per_unit: 50, algorithm: token-bucket, assign: rlqs }'
    expect(problemsOf(`key: k\n${flag}: true\nrate_limit: ${rateLimit}`)).toEqual([
      `f:5:86: assigning does not go with ${flag}: proxies refuse`,
    ])
  })
})
