import { describe, expect, it } from 'vitest'
import { compile } from './compile.ts'
import { type DescriptorQuery, type MatchedDescriptors, matchDescriptors } from './descriptors.ts'
import type { Descriptor, DescriptorLimit } from './rule.ts'

type Pair = readonly [key: string, value: string]

function limit(limit: number, unit: string, own: Partial<DescriptorLimit> = {}): DescriptorLimit {
  const period = { second: '1s', minute: '1m', hour: '1h', day: '1d' }[unit]!
  return {
    algorithm: 'fixed-window',
    onLimit: 'deny',
    mode: 'enforce',
    onStoreError: 'open',
    unlimited: false,
    quota: { limit, period },
    unit,
    replaces: [],
    ...own,
  }
}

function unlimited(): DescriptorLimit {
  const { quota, unit, ...rest } = limit(0, 'day')
  return { ...rest, unlimited: true }
}

/** `key=value` or `key`, with its limit and what hangs below it. */
function at(path: string, rateLimit?: DescriptorLimit, own: Partial<Descriptor> = {}): Descriptor {
  const [key = '', value] = path.split('=')
  return {
    key,
    ...(value !== undefined && { value }),
    ...(rateLimit !== undefined && { rateLimit }),
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    descriptors: [],
    ...own,
  }
}

function under(path: string, ...descriptors: Descriptor[]): Descriptor {
  return at(path, undefined, { descriptors })
}

function ask(
  tree: readonly Descriptor[],
  descriptors: readonly DescriptorQuery[],
  domain = 'test-domain',
): MatchedDescriptors {
  const rules = compile([{ name: 'test-domain', limits: [], descriptors: tree }])
  return matchDescriptors(rules, domain, descriptors)
}

function query(pairs: readonly Pair[], own: Partial<DescriptorQuery> = {}): DescriptorQuery {
  return { entries: pairs.map(([key, value]) => ({ key, value })), ...own }
}

/** What one descriptor meets: `5/second test-domain.key1`, or nothing. */
function met(tree: readonly Descriptor[], ...pairs: Pair[]): string | undefined {
  const own = ask(tree, [query(pairs)]).statuses[0]!.limit
  return own && `${own.unlimited ? 'unlimited' : `${own.requestsPerUnit}/${own.unit}`} ${own.statsKey}`
}

function keys(tree: readonly Descriptor[], ...queries: (readonly Pair[])[]): string[] {
  return queries.map((pairs) => {
    const { steps } = ask(tree, [query(pairs)])
    return `${steps[0]?.policy} ${steps[0]?.plan.kind} ${steps[0]?.key}`
  })
}

const basic: readonly Descriptor[] = [
  under('key1=value1', at('subkey1', limit(5, 'second')), at('subkey1=subvalue1', limit(10, 'second'))),
  at('key2', limit(20, 'minute')),
  at('key2=value2', limit(30, 'minute')),
  at('key2=value3'),
  at('key3', limit(1, 'hour')),
  at('key4', limit(1, 'day', { name: 'daily' })),
  at('key5=value5', limit(15, 'day'), { descriptors: [at('subkey5=subvalue5', limit(25, 'day'))] }),
  at('key6', unlimited()),
  at('key7', limit(70, 'minute'), { detailedMetric: true }),
]

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
        },
      },
    ])
  })

  it('and none in an unknown domain', () => {
    expect(ask(basic, [query([['key2', 'x']])], 'other')).toEqual({
      steps: [],
      subjects: [],
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
    expect(all.steps.map(({ plan }) => plan.capacity)).toEqual([20, 1])
    expect(all.subjects.map(({ name }) => name)).toEqual(['key2', 'key3'])
  })
})

describe('a pattern', () => {
  const wild = [
    at('wild=foo*', limit(20, 'minute')),
    at('noWild=foo', limit(20, 'minute')),
    at('noVal', limit(20, 'minute')),
    at('midWild=bar*b', limit(20, 'minute')),
    at('multiWild=foo*bar*baz', limit(20, 'minute')),
    under('nestedWild=val1', at('wild=goo*', limit(20, 'minute'))),
    at('metric=foo*', limit(20, 'minute'), { valueToMetric: true }),
    at('shared=foo*', limit(20, 'minute'), { valueToMetric: true, shareThreshold: true }),
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
      at('k', limit(1, 'day')),
      at('k=a*', limit(2, 'day')),
      at('k=ab*', limit(3, 'day')),
      at('k=abc', limit(4, 'day')),
    ]
    const limits = ['abc', 'abd', 'b'].map((value) => met(tree, ['k', value]))
    expect(limits).toEqual(['4/day test-domain.k_abc', '2/day test-domain.k_a*', '1/day test-domain.k'])
  })

  it('is not gone back on when a later entry fails', () => {
    const tree = [under('a=x', at('b=1', limit(1, 'day'))), under('a', at('b=2', limit(2, 'day')))]
    expect(met(tree, ['a', 'x'], ['b', '2'])).toBeUndefined()
    expect(met(tree, ['a', 'y'], ['b', '2'])).toBe('2/day test-domain.a.b_2')
  })

  it('may be in the key, and then tells keys apart', () => {
    const tree = [at('user_*', limit(1, 'day'))]
    expect(met(tree, ['user_id', 'x'])).toBe('1/day test-domain.user_*')
    expect(new Set(keys(tree, [['user_id', 'x']], [['user_name', 'x']], [['user_*', 'x']])).size).toBe(3)
  })
})

describe('share_threshold', () => {
  const tree = [
    at('files=files/*', limit(100, 'minute'), { shareThreshold: true }),
    at('files_no_share=files/*', limit(10, 'hour')),
    under('parent=p', at('files=nested/*', limit(200, 'minute'), { shareThreshold: true })),
    at('files=top/*', undefined, {
      shareThreshold: true,
      descriptors: [at('files=nested/*', limit(300, 'minute'), { shareThreshold: true })],
    }),
    at('route=api/*', undefined, {
      shareThreshold: true,
      valueToMetric: true,
      descriptors: [at('method', limit(60, 'minute'))],
    }),
    at('service=svc/*', undefined, {
      shareThreshold: true,
      descriptors: [at('endpoint', limit(70, 'minute'), { detailedMetric: true })],
    }),
    at('path=path/*', undefined, {
      shareThreshold: true,
      descriptors: [under('file=file/*', at('type', limit(80, 'minute')))],
    }),
    at('file=test1', limit(50, 'minute')),
    at('file=test*', limit(100, 'minute'), { shareThreshold: true }),
    at('t=t*prod', undefined, {
      shareThreshold: true,
      descriptors: [at('res=res*v2', limit(90, 'minute'), { shareThreshold: true })],
    }),
  ]

  it('is one counter for all who fit, and one each without it', () => {
    expect(new Set(keys(tree, [['files', 'files/a.pdf']], [['files', 'files/b.csv']])).size).toBe(1)
    expect(new Set(keys(tree, [['files_no_share', 'files/1']], [['files_no_share', 'files/2']])).size).toBe(2)
  })

  it.each<[Pair[], string]>([
    [[['files', 'files/a']], '100/minute test-domain.files_files/*'],
    [
      [
        ['parent', 'p'],
        ['files', 'nested/a'],
      ],
      '200/minute test-domain.parent_p.files_nested/*',
    ],
    [
      [
        ['files', 'top/a'],
        ['files', 'nested/b'],
      ],
      '300/minute test-domain.files_top/*.files_nested/*',
    ],
    [
      [
        ['route', 'api/a'],
        ['method', 'GET'],
      ],
      '60/minute test-domain.route_api/*.method',
    ],
    [
      [
        ['service', 'svc/a'],
        ['endpoint', 'get'],
      ],
      '70/minute test-domain.service_svc/*.endpoint_get',
    ],
    [
      [
        ['path', 'path/a'],
        ['file', 'file/b'],
        ['type', 'c'],
      ],
      '80/minute test-domain.path_path/*.file_file/*.type',
    ],
    [[['file', 'test1']], '50/minute test-domain.file_test1'],
    [[['file', 'test2']], '100/minute test-domain.file_test*'],
    [
      [
        ['t', 'tAprod'],
        ['res', 'resBv2'],
      ],
      '90/minute test-domain.t_t*prod.res_res*v2',
    ],
  ])('%j meets %s', (pairs, expected) => {
    expect(met(tree, ...pairs)).toBe(expected)
  })

  it('works at each level of its own', () => {
    const top: Pair[][] = ['a', 'b'].map((name) => [
      ['files', `top/${name}`],
      ['files', `nested/${name}`],
    ])
    expect(new Set(keys(tree, ...top)).size).toBe(1)
    const mixed: Pair[][] = [
      ['a', 'x'],
      ['b', 'x'],
      ['b', 'y'],
    ].map(([p, f]) => [
      ['path', `path/${p}`],
      ['file', `file/${f}`],
      ['type', 't'],
    ])
    const [first, second, third] = keys(tree, ...mixed)
    expect(first).toBe(second)
    expect(third).not.toBe(first)
  })

  it('leaves an exact value its own counter', () => {
    const [own, ...shared] = keys(
      tree,
      ...['test1', 'test2', 'test23', 'test123'].map((file): Pair[] => [['file', file]]),
    )
    expect(new Set(shared).size).toBe(1)
    expect(shared).not.toContain(own)
  })
})

describe('value_to_metric', () => {
  const flag = { valueToMetric: true }

  function chain(
    leaf: Partial<Descriptor>,
    ...levels: (readonly [string, Partial<Descriptor>])[]
  ): Descriptor[] {
    const last = levels.length - 1
    return levels.reduceRight<Descriptor[]>(
      (below, [path, own], i) => [
        i === last
          ? at(path, limit(1, 'day'), { ...own, ...leaf })
          : at(path, undefined, { ...own, descriptors: below }),
      ],
      [],
    )
  }

  it.each<[string, Descriptor[], Pair[], string]>([
    [
      'on two levels',
      chain({}, ['route', flag], ['http_method', flag], ['subject_id', {}]),
      [
        ['route', 'draw'],
        ['http_method', 'GET'],
        ['subject_id', '123'],
      ],
      'route_draw.http_method_GET.subject_id',
    ],
    [
      'on the first',
      chain({}, ['k1', flag], ['k2', {}]),
      [
        ['k1', 'A'],
        ['k2', 'B'],
      ],
      'k1_A.k2',
    ],
    [
      'in the middle',
      chain({}, ['k1', {}], ['k2', flag], ['k3', {}]),
      [
        ['k1', 'X'],
        ['k2', 'Y'],
        ['k3', 'Z'],
      ],
      'k1.k2_Y.k3',
    ],
    [
      'nowhere',
      chain({}, ['k1', {}], ['k2', {}]),
      [
        ['k1', 'A'],
        ['k2', 'B'],
      ],
      'k1.k2',
    ],
    [
      'above a detailed leaf',
      chain({ detailedMetric: true }, ['route', flag], ['http_method', flag], ['subject_id', {}]),
      [
        ['route', 'draw'],
        ['http_method', 'GET'],
        ['subject_id', '123'],
      ],
      'route_draw.http_method_GET.subject_id_123',
    ],
    [
      'with an empty value',
      chain({}, ['k1', flag], ['k2', {}]),
      [
        ['k1', ''],
        ['k2', 'B'],
      ],
      'k1.k2',
    ],
    [
      'on a pattern',
      chain({}, ['user', flag], ['action=read*', flag]),
      [
        ['user', 'ann'],
        ['action', 'readfile'],
      ],
      'user_ann.action_readfile',
    ],
  ])('%s', (_, tree, pairs, statsKey) => {
    expect(met(tree, ...pairs)).toBe(`1/day test-domain.${statsKey}`)
  })
})

describe('detailed_metric', () => {
  const detailed = { detailedMetric: true }

  it('shows every value that the request has', () => {
    expect(met([at('key-1', limit(1, 'day'), detailed)], ['key-1', 'value-1'])).toBe(
      '1/day test-domain.key-1_value-1',
    )
    expect(met([at('key-1', limit(1, 'day'))], ['key-1', 'value-1'])).toBe('1/day test-domain.key-1')
    const pairs: Pair[] = [
      ['key-1', 'value-1'],
      ['key-2', 'value-2'],
    ]
    expect(met([under('key-1', at('key-2', limit(1, 'day'), detailed))], ...pairs)).toBe(
      '1/day test-domain.key-1_value-1.key-2_value-2',
    )
    expect(met([under('key-1', at('key-2', limit(1, 'day')))], ...pairs)).toBe(
      '1/day test-domain.key-1.key-2',
    )
  })
})

describe('a limit that the request brings', () => {
  const pairs: Pair[] = [
    ['key1', 'value1'],
    ['subkey1', 'something'],
  ]

  it('takes the place of any rule’s, on the rule’s counter where the unit is the same', () => {
    const { steps, statuses } = ask(basic, [query(pairs, { limit: { requestsPerUnit: 42, unit: 'SECOND' } })])
    expect(statuses[0]!.limit).toEqual({
      requestsPerUnit: 42,
      unit: 'second',
      unlimited: false,
      statsKey: 'test-domain.key1_value1.subkey1_something',
    })
    const [own] = ask(basic, [query(pairs)]).steps
    expect(steps[0]).toMatchObject({
      policy: own!.policy,
      key: own!.key,
      plan: { kind: own!.plan.kind, capacity: 42 },
    })
  })

  it('needs no rule', () => {
    const brought = { limit: { requestsPerUnit: 1, unit: 'day' } }
    const { steps, subjects } = ask(basic, [query([['nil', 'a']], brought), query([['nil', 'b']], brought)])
    expect(new Set(steps.map(({ key }) => key)).size).toBe(2)
    expect(subjects[0]!.name).toBe('nil')
  })

  it('is a mistake with an unknown unit or number', () => {
    for (const limit of [
      { requestsPerUnit: 1, unit: 'UNKNOWN' },
      { requestsPerUnit: 1, unit: '' },
      { requestsPerUnit: 1, unit: 'constructor' },
      { requestsPerUnit: -1, unit: 'day' },
      { requestsPerUnit: 0.5, unit: 'day' },
    ]) {
      expect(ask(basic, [query([['key2', 'x']]), query(pairs, { limit })])).toMatchObject({
        steps: [],
        statuses: [],
        problem: expect.stringContaining('limit'),
      })
    }
  })

  it('is nothing in an unknown domain', () => {
    expect(
      ask(basic, [query(pairs, { limit: { requestsPerUnit: 1, unit: 'day' } })], 'other').statuses,
    ).toEqual([{ step: -1 }])
  })
})

describe('the cost', () => {
  const rules = compile([{ name: 'test-domain', limits: [], descriptors: basic }])
  const costs = (own: number | undefined, request?: number): number[] =>
    matchDescriptors(
      rules,
      'test-domain',
      [query([['key2', 'x']], own === undefined ? {} : { cost: own })],
      request,
    ).steps.map(({ cost }) => cost)

  it('is the descriptor’s own, else the request’s, else 1', () => {
    expect([costs(0, 5), costs(7, 5), costs(undefined, 5), costs(undefined)]).toEqual([[0], [7], [5], [1]])
  })

  it.each([-1, 1.5, Number.NaN])('of %d is a mistake', (cost) => {
    expect(matchDescriptors(rules, 'test-domain', [query([['nil', 'x']], { cost })]).problem).toContain(
      'cost',
    )
    expect(matchDescriptors(rules, 'test-domain', [query([['nil', 'x']])], cost).problem).toContain('cost')
  })
})

describe('what a rule does', () => {
  it('shadow and quota mode are roles; shadow wins', () => {
    const tree = [
      at('a', limit(1, 'day'), { shadowMode: true }),
      at('b', limit(1, 'day'), { quotaMode: true }),
      at('c', limit(1, 'day'), { quotaMode: true, shadowMode: true }),
      at('d', limit(1, 'day')),
    ]
    const { steps, subjects } = ask(
      tree,
      ['a', 'b', 'c', 'd'].map((key) => query([[key, 'x']])),
    )
    expect(steps.map(({ role }) => role)).toEqual(['shadow', 'quota', 'shadow', 'enforce'])
    expect(subjects.map(({ mode }) => mode)).toEqual(['shadow', 'enforce', 'shadow', 'enforce'])
  })

  it('a limit that another replaces is not counted and not mentioned, also for one that is unlimited', () => {
    const replaces = ['banned']
    const tree = [
      at('banned', limit(0, 'minute', { name: 'banned' })),
      at('override', limit(2, 'minute', { name: 'own', replaces })),
      at('free', { ...unlimited(), replaces }),
    ]
    const counted = (...names: string[]) =>
      ask(
        tree,
        names.map((name) => query([[name, 'x']])),
      ).statuses.map(({ step }) => step)
    expect(counted('banned', 'override')).toEqual([-1, 0])
    expect(counted('banned', 'free')).toEqual([-1, -1])
    expect(counted('banned')).toEqual([0])
    expect(ask(tree, [query([['banned', 'x']]), query([['free', 'x']])]).statuses[0]).toEqual({ step: -1 })
  })

  it('the added options work as in the other format', () => {
    const own = {
      algorithm: 'sliding-window-log',
      block: { after: 3, within: 1_000, for: 1_000 },
      name: 'n',
    } as const
    const { steps, statuses, subjects } = ask(
      [at('a', limit(5, 'minute', own)), at('b', limit(1, 'day'))],
      [query([['a', 'x']]), query([['b', 'x']])],
    )
    expect(steps.map(({ role, plan }) => [role, plan.algorithm.name])).toEqual([
      ['enforce', 'sliding-window-log'],
      ['guard', 'block'],
      ['enforce', 'fixed-window'],
    ])
    expect(statuses.map(({ step }) => step)).toEqual([0, 2])
    expect(subjects.map(({ name }) => name)).toEqual(['n', 'n', 'b'])
  })

  it('metadata is handed on', () => {
    const tree = [at('a', limit(1, 'day'), { metadata: { tier: 'gold' } })]
    expect(ask(tree, [query([['a', 'x']])]).statuses[0]!.limit!.metadata).toEqual({ tier: 'gold' })
  })
})

describe('counters', () => {
  it('T51: of a_b, c and of a, b_c are two, whichever rules they meet', () => {
    const tree = [at('a_b', limit(1, 'day')), at('a', limit(1, 'day'))]
    expect(new Set(keys(tree, [['a_b', 'c']], [['a', 'b_c']])).size).toBe(2)
    const levels = [under('k', at('l', limit(1, 'day')))]
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
    const tree = [at('foo_bar', limit(1, 'day')), at('foo=bar', limit(2, 'day'))]
    expect(met(tree, ['foo', 'bar'])).toBe('2/day test-domain.foo_bar')
    expect(met(tree, ['foo_bar', 'x'])).toBe('1/day test-domain.foo_bar')
    expect(new Set(keys(tree, [['foo', 'bar']], [['foo_bar', 'x']])).size).toBe(2)
  })

  it('a domain’s two formats never share one', () => {
    const [step] = ask([at('a', limit(1, 'day'))], [query([['a', 'x']])]).steps
    expect(step!.policy).toBe('test-domain//a|%-')
  })
})

it('a mistake names the rule and its place', () => {
  const source = { file: 'a.yaml', line: 3, column: 7 }
  const tree = [under('a=b', at('c', limit(1, 'day', { onLimit: 'delay' }), { source }))]
  expect(() => ask(tree, [])).toThrow(
    'a.yaml:3:7: descriptor test-domain.a_b.c: delaying goes with leaky-bucket',
  )
})
