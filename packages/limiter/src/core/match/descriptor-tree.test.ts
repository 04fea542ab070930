import { describe, expect, it } from 'vitest'
import { ask, at, basic, keys, met, type Pair, query, rateLimit, under } from './descriptor.samples.ts'

describe('a descriptor meets the limit at its last entry', () => {
  it.each<[Pair[], string | undefined]>([
    [[], undefined],
    [[['key1', 'something']], undefined],
    [[['key1', 'value1']], undefined],
    [
      [
        ['key1', 'value1'],
        ['subkey1', 'something'],
      ],
      '5/second test-domain.key1_value1.subkey1',
    ],
    [
      [
        ['key1', 'value1'],
        ['subkey1', 'subvalue1'],
      ],
      '10/second test-domain.key1_value1.subkey1_subvalue1',
    ],
    [[['key2', 'something']], '20/minute test-domain.key2'],
    [[['key2', 'value2']], '30/minute test-domain.key2_value2'],
    [[['key2', 'value3']], undefined],
    [
      [
        ['key2', 'value2'],
        ['subkey', 'subvalue'],
      ],
      undefined,
    ],
    [[['key3', 'foo']], '1/hour test-domain.key3'],
    [[['key4', 'foo']], '1/day test-domain.key4'],
    [[['key5', 'value5']], '15/day test-domain.key5_value5'],
    [
      [
        ['key5', 'value5'],
        ['subkey5', 'subvalue5'],
      ],
      '25/day test-domain.key5_value5.subkey5_subvalue5',
    ],
    [
      [
        ['key5', 'value5'],
        ['subkey5', 'subvalue'],
      ],
      undefined,
    ],
    [[['key6', 'foo']], 'unlimited test-domain.key6'],
    [[['key7', 'value7']], '70/minute test-domain.key7_value7'],
    [[['key8', 'foo']], undefined],
    [[['__proto__', 'constructor']], undefined],
  ])('%j: %s', (pairs, expected) => {
    expect(met(basic, ...pairs)).toBe(expected)
  })

  it('whose name and unit the answer repeats', () => {
    expect(ask(basic, [query([['key4', 'foo']])]).statuses).toEqual([
      {
        step: 0,
        limit: {
          name: 'daily',
          unit: 'day',
          requestsPerUnit: 1,
          unlimited: false,
          statsKey: 'test-domain.key4',
          labels: ['key4'],
          written: ['key4'],
        },
      },
    ])
  })

  it('and none in an unknown domain', () => {
    expect(ask(basic, [query([['key2', 'x']])], 'other')).toEqual({
      steps: [],
      missing: [],
      statuses: [{ step: -1 }],
    })
  })

  it('one status each, and a step for each that is counted', () => {
    const all = ask(basic, [
      query([['key6', 'x']]),
      query([['key2', 'x']]),
      query([['nil', 'x']]),
      query([['key3', 'x']]),
    ])
    expect(all.statuses.map(({ step }) => step)).toEqual([-1, 0, -1, 1])
    expect(all.steps.map(({ rule }) => rule.plan.capacity)).toEqual([20, 1])
    expect(all.steps.map(({ rule }) => rule.name)).toEqual(['key2', 'key3'])
  })
})

describe('a pattern', () => {
  const wild = [
    at('wild=foo*', rateLimit(20, 'minute')),
    at('noWild=foo', rateLimit(20, 'minute')),
    at('noVal', rateLimit(20, 'minute')),
    at('midWild=bar*b', rateLimit(20, 'minute')),
    at('multiWild=foo*bar*baz', rateLimit(20, 'minute')),
    under('nestedWild=val1', at('wild=goo*', rateLimit(20, 'minute'))),
    at('metric=foo*', rateLimit(20, 'minute'), { valueToMetric: true }),
    at('shared=foo*', rateLimit(20, 'minute'), { valueToMetric: true, shareThreshold: true }),
  ]

  it.each<[string, string[], string[]]>([
    ['wild', ['foo', 'foo1', 'foo2'], ['bar', 'xfoo']],
    ['noWild', ['foo'], ['foo1']],
    ['noVal', ['foo', 'bar', ''], []],
    ['midWild', ['barab', 'bar123b', 'barb'], ['bara', 'xbarb']],
    ['multiWild', ['foobarbaz', 'foo1bar2baz'], ['foobazbar', 'foobar']],
  ])('%s fits %j, and not %j', (key, fitting, others) => {
    expect(fitting.filter((value) => met(wild, [key, value]) === undefined)).toEqual([])
    expect(others.filter((value) => met(wild, [key, value]) !== undefined)).toEqual([])
  })

  it('fits below an exact value', () => {
    expect(met(wild, ['nestedWild', 'val1'], ['wild', 'goo2'])).toBe(
      '20/minute test-domain.nestedWild_val1.wild_goo*',
    )
  })

  it('stands in the stats key, unless the value is asked for; a shared one always', () => {
    expect(met(wild, ['wild', 'foo1'])).toBe('20/minute test-domain.wild_foo*')
    expect(met(wild, ['metric', 'foo1'])).toBe('20/minute test-domain.metric_foo1')
    expect(met(wild, ['shared', 'foo1'])).toBe('20/minute test-domain.shared_foo*')
  })

  it('comes after the exact value and before the key alone, the first in the file first', () => {
    const tree = [
      at('k', rateLimit(1, 'day')),
      at('k=a*', rateLimit(2, 'day')),
      at('k=ab*', rateLimit(3, 'day')),
      at('k=abc', rateLimit(4, 'day')),
    ]
    const limits = ['abc', 'abd', 'b'].map((value) => met(tree, ['k', value]))
    expect(limits).toEqual(['4/day test-domain.k_abc', '2/day test-domain.k_a*', '1/day test-domain.k'])
  })

  it('is not gone back on when a later entry fails', () => {
    const tree = [under('a=x', at('b=1', rateLimit(1, 'day'))), under('a', at('b=2', rateLimit(2, 'day')))]
    expect(met(tree, ['a', 'x'], ['b', '2'])).toBeUndefined()
    expect(met(tree, ['a', 'y'], ['b', '2'])).toBe('2/day test-domain.a.b_2')
  })

  it('may be in the key, and then tells keys apart', () => {
    const tree = [at('user_*', rateLimit(1, 'day'))]
    expect(met(tree, ['user_id', 'x'])).toBe('1/day test-domain.user_*')
    expect(new Set(keys(tree, [['user_id', 'x']], [['user_name', 'x']], [['user_*', 'x']])).size).toBe(3)
  })
})

describe('counters', () => {
  it('T51: of a_b, c and of a, b_c are two, whichever rules they meet', () => {
    const tree = [at('a_b', rateLimit(1, 'day')), at('a', rateLimit(1, 'day'))]
    expect(new Set(keys(tree, [['a_b', 'c']], [['a', 'b_c']])).size).toBe(2)
    const levels = [under('k', at('l', rateLimit(1, 'day')))]
    expect(
      new Set(
        keys(
          levels,
          [
            ['k', 'a'],
            ['l', 'b|c'],
          ],
          [
            ['k', 'a|b'],
            ['l', 'c'],
          ],
        ),
      ).size,
    ).toBe(2)
  })

  it('a key-only rule and one of a longer name are two', () => {
    const tree = [at('foo_bar', rateLimit(1, 'day')), at('foo=bar', rateLimit(2, 'day'))]
    expect(met(tree, ['foo', 'bar'])).toBe('2/day test-domain.foo_bar')
    expect(met(tree, ['foo_bar', 'x'])).toBe('1/day test-domain.foo_bar')
    expect(new Set(keys(tree, [['foo', 'bar']], [['foo_bar', 'x']])).size).toBe(2)
  })

  it('a domain’s two formats never share one', () => {
    const [step] = ask([at('a', rateLimit(1, 'day'))], [query([['a', 'x']])]).steps
    expect(step!.rule.namespace).toBe('test-domain//a|%-')
  })
})

it('a mistake names the rule and its place', () => {
  const source = { file: 'a.yaml', line: 3, column: 7 }
  const tree = [under('a=b', at('c', rateLimit(1, 'day', { onLimit: 'delay' }), { source }))]
  expect(() => ask(tree, [])).toThrow(
    'a.yaml:3:7: descriptor test-domain.a_b.c: delay is not supported by fixed-window',
  )
})
