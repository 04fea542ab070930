import { describe, expect, it } from 'vitest'
import { at, met, type Pair, rateLimit, under } from './descriptor.samples.ts'
import type { Descriptor } from './domain.ts'

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
          ? at(path, rateLimit(1, 'day'), { ...own, ...leaf })
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
    expect(met([at('key-1', rateLimit(1, 'day'), detailed)], ['key-1', 'value-1'])).toBe(
      '1/day test-domain.key-1_value-1',
    )
    expect(met([at('key-1', rateLimit(1, 'day'))], ['key-1', 'value-1'])).toBe('1/day test-domain.key-1')
    const pairs: Pair[] = [
      ['key-1', 'value-1'],
      ['key-2', 'value-2'],
    ]
    expect(met([under('key-1', at('key-2', rateLimit(1, 'day'), detailed))], ...pairs)).toBe(
      '1/day test-domain.key-1_value-1.key-2_value-2',
    )
    expect(met([under('key-1', at('key-2', rateLimit(1, 'day')))], ...pairs)).toBe(
      '1/day test-domain.key-1.key-2',
    )
  })
})
