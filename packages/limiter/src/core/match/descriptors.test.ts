import { describe, expect, it } from 'vitest'
import { compile } from './compile.ts'
import {
  ask,
  at,
  basic,
  keys,
  met,
  type Pair,
  query,
  rateLimit,
  under,
  unlimited,
} from './descriptor.samples.ts'
import { matchDescriptors } from './descriptors.ts'

describe('share_threshold', () => {
  const tree = [
    at('files=files/*', rateLimit(100, 'minute'), { shareThreshold: true }),
    at('files_no_share=files/*', rateLimit(10, 'hour')),
    under('parent=p', at('files=nested/*', rateLimit(200, 'minute'), { shareThreshold: true })),
    at('files=top/*', undefined, {
      shareThreshold: true,
      descriptors: [at('files=nested/*', rateLimit(300, 'minute'), { shareThreshold: true })],
    }),
    at('route=api/*', undefined, {
      shareThreshold: true,
      valueToMetric: true,
      descriptors: [at('method', rateLimit(60, 'minute'))],
    }),
    at('service=svc/*', undefined, {
      shareThreshold: true,
      descriptors: [at('endpoint', rateLimit(70, 'minute'), { detailedMetric: true })],
    }),
    at('path=path/*', undefined, {
      shareThreshold: true,
      descriptors: [under('file=file/*', at('type', rateLimit(80, 'minute')))],
    }),
    at('file=test1', rateLimit(50, 'minute')),
    at('file=test*', rateLimit(100, 'minute'), { shareThreshold: true }),
    at('t=t*prod', undefined, {
      shareThreshold: true,
      descriptors: [at('res=res*v2', rateLimit(90, 'minute'), { shareThreshold: true })],
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
      labels: ['key1_value1', 'subkey1_something'],
    })
    const [own] = ask(basic, [query(pairs)]).steps
    expect(steps[0]).toMatchObject({
      rule: { namespace: own!.rule.namespace, plan: { kind: own!.rule.plan.kind, capacity: 42 } },
      key: own!.key,
    })
  })

  it('needs no rule', () => {
    const brought = { limit: { requestsPerUnit: 1, unit: 'day' } }
    const { steps } = ask(basic, [query([['nil', 'a']], brought), query([['nil', 'b']], brought)])
    expect(new Set(steps.map(({ key }) => key)).size).toBe(2)
    expect(steps[0]!.rule.name).toBe('nil')
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
      at('a', rateLimit(1, 'day'), { shadowMode: true }),
      at('b', rateLimit(1, 'day'), { quotaMode: true }),
      at('c', rateLimit(1, 'day'), { quotaMode: true, shadowMode: true }),
      at('d', rateLimit(1, 'day')),
    ]
    const { steps } = ask(
      tree,
      ['a', 'b', 'c', 'd'].map((key) => query([[key, 'x']])),
    )
    expect(steps.map(({ rule }) => rule.role)).toEqual(['shadow', 'quota', 'shadow', 'enforce'])
  })

  it('a limit that another replaces is not counted and not mentioned, also for one that is unlimited', () => {
    const replaces = ['banned']
    const tree = [
      at('banned', rateLimit(0, 'minute', { name: 'banned' })),
      at('override', rateLimit(2, 'minute', { name: 'own', replaces })),
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
    const { steps, statuses } = ask(
      [at('a', rateLimit(5, 'minute', own)), at('b', rateLimit(1, 'day'))],
      [query([['a', 'x']]), query([['b', 'x']])],
    )
    expect(
      steps.map(({ rule: { role, plan, block } }) => [role, plan.algorithm.name, block?.algorithm.name]),
    ).toEqual([
      ['enforce', 'sliding-window-log', 'block'],
      ['enforce', 'fixed-window', undefined],
    ])
    expect(statuses.map(({ step }) => step)).toEqual([0, 1])
    expect(steps.map(({ rule }) => rule.name)).toEqual(['n', 'b'])
  })

  it('metadata is handed on', () => {
    const tree = [at('a', rateLimit(1, 'day'), { metadata: { tier: 'gold' } })]
    expect(ask(tree, [query([['a', 'x']])]).statuses[0]!.limit!.metadata).toEqual({ tier: 'gold' })
  })
})
