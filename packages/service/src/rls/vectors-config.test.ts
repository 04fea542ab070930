import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, type GrpcBench, grpcBench, met } from './vectors.test-support.ts'

/** services of rules, each asked once for each vector. Files that do not load: packages/rulebook/src/fixtures.test.ts. */
function vectors(
  name: string,
  rulebook: string,
  table: readonly (readonly [pairs: string, expected: string])[],
): void {
  describe(`test/config: ${name}`, () => {
    let service: GrpcBench
    beforeAll(async () => {
      service = await grpcBench(rulebook)
    })
    afterAll(() => service.close())
    test.each(table)('(%s) meets %s', async (pairs, expected) => {
      const own = pairs === '' ? [] : pairs.split(/[ =]/)
      expect(await met(service, 'test-domain', own)).toBe(expected)
    })
  })
}

vectors('basic_config', fixture('test-domain'), [
  ['', 'none'],
  ['key1=something', 'none'],
  ['key1=value1', 'none'],
  ['key1=value1 subkey1=something', '5/SECOND test-domain.key1_value1.subkey1'],
  ['key1=value1 subkey1=subvalue1', '10/SECOND test-domain.key1_value1.subkey1_subvalue1'],
  ['key2=something', '20/MINUTE test-domain.key2'],
  ['key2=value2', '30/MINUTE test-domain.key2_value2'],
  ['key2=value3', 'none'],
  ['key2=value2 subkey=subvalue', 'none'],
  ['key3=foo', '1/HOUR test-domain.key3'],
  ['key4=foo', '1/DAY test-domain.key4'],
  ['key5=value5', '15/DAY test-domain.key5_value5'],
  ['key5=value5 subkey5=subvalue5', '25/DAY test-domain.key5_value5.subkey5_subvalue5'],
  ['key5=value5 subkey5=subvalue', 'none'],
  ['key6=foo', 'unlimited'],
  ['key7=value7', '70/MINUTE test-domain.key7_value7'],
])

vectors('wildcard', fixture('wildcard'), [
  ['wild=foo1', '20/MINUTE test-domain.wild_foo*'],
  ['wild=foo2', '20/MINUTE test-domain.wild_foo*'],
  ['wild=bar', 'none'],
  ['noWild=foo1', 'none'],
  ['noVal=anything', '20/MINUTE test-domain.noVal'],
  ['midWild=barab', '20/MINUTE test-domain.midWild_bar*b'],
  ['midWild=bar123b', '20/MINUTE test-domain.midWild_bar*b'],
  ['midWild=barb', '20/MINUTE test-domain.midWild_bar*b'],
  ['midWild=bara', 'none'],
  ['midWild=xbarb', 'none'],
  ['multiWild=foo1bar2baz', '10/MINUTE test-domain.multiWild_foo*bar*baz'],
  ['multiWild=foobaz', 'none'],
  ['multiWild=foobazbar', 'none'],
  ['nestedWild=val1 wild=goo2', '20/MINUTE test-domain.nestedWild_val1.wild_goo*'],
])

vectors('share_threshold', fixture('share-threshold'), [
  ['files=files/a.pdf', '100/MINUTE test-domain.files_files/*'],
  ['nested=parent files=nested/a', '200/MINUTE test-domain.nested_parent.files_nested/*'],
  ['files=top/a files=nested/b', '300/MINUTE test-domain.files_top/*.files_nested/*'],
  ['route=api/v1 method=GET', '60/MINUTE test-domain.route_api/*.method'],
  ['service=svc/1 endpoint=get', '80/MINUTE test-domain.service_svc/*.endpoint_get'],
  ['path=path/a file=file/b type=c', '120/MINUTE test-domain.path_path/*.file_file/*.type'],
  ['user=user/a resource=res/b action=c', '150/MINUTE test-domain.user_user/*.resource_res/*.action'],
  ['file=test1', '50/MINUTE test-domain.file_test1'],
  ['file=test2', '100/MINUTE test-domain.file_test*'],
  ['file=test23', '100/MINUTE test-domain.file_test*'],
  ['file=test123', '100/MINUTE test-domain.file_test*'],
  ['midpath=/api/x/v1', '100/MINUTE test-domain.midpath_/api*v1'],
  ['midpath=/api/v2', 'none'],
  ['multiroute=svcABCep1rpc', '50/MINUTE test-domain.multiroute_svc*ep*rpc'],
  ['multiroute=svcABCrpc', 'none'],
  ['tenant=t1prod resource=res9v2', '60/MINUTE test-domain.tenant_t*prod.resource_res*v2'],
])

/** Three levels, with `value_to_metric` where it is asked for, and `detailed_metric` at the end. */
function levels(flags: readonly boolean[], detailed = false): string {
  return `
domain: test-domain
descriptors:
  - key: route
    value_to_metric: ${flags[0]}
    descriptors:
      - key: http_method
        value_to_metric: ${flags[1]}
        descriptors:
          - { key: subject_id, value_to_metric: ${flags[2]}, detailed_metric: ${detailed}, rate_limit: { unit: minute, requests_per_unit: 60 } }
`
}

const ASKED = 'route=draw http_method=GET subject_id=123'
vectors('value_to_metric on the first two levels', levels([true, true, false]), [
  [ASKED, '60/MINUTE test-domain.route_draw.http_method_GET.subject_id'],
  ['route= http_method=GET subject_id=123', '60/MINUTE test-domain.route.http_method_GET.subject_id'],
])
vectors('value_to_metric on the first level alone', levels([true, false, false]), [
  [ASKED, '60/MINUTE test-domain.route_draw.http_method.subject_id'],
])
vectors('value_to_metric in the middle', levels([false, true, false]), [
  [ASKED, '60/MINUTE test-domain.route.http_method_GET.subject_id'],
])
vectors('value_to_metric nowhere', levels([false, false, false]), [
  [ASKED, '60/MINUTE test-domain.route.http_method.subject_id'],
])
vectors('value_to_metric above a detailed limit', levels([true, true, false], true), [
  [ASKED, '60/MINUTE test-domain.route_draw.http_method_GET.subject_id_123'],
])
vectors(
  'value_to_metric with a pattern',
  `
domain: test-domain
descriptors:
  - key: user
    value_to_metric: true
    descriptors:
      - { key: action, value: 'read*', value_to_metric: true, rate_limit: { unit: minute, requests_per_unit: 60 } }
`,
  [['user=alice action=readfile', '60/MINUTE test-domain.user_alice.action_readfile']],
)

vectors(
  'detailed_metric',
  `
domain: test-domain
descriptors:
  - { key: key-1, detailed_metric: true, rate_limit: { unit: minute, requests_per_unit: 10 } }
  - { key: key-2, rate_limit: { unit: minute, requests_per_unit: 10 } }
  - key: key-3
    descriptors:
      - { key: leaf, detailed_metric: true, rate_limit: { unit: minute, requests_per_unit: 10 } }
      - { key: plain, rate_limit: { unit: minute, requests_per_unit: 10 } }
`,
  [
    ['key-1=value-1', '10/MINUTE test-domain.key-1_value-1'],
    ['key-2=value-1', '10/MINUTE test-domain.key-2'],
    ['key-3=value-3 leaf=value-4', '10/MINUTE test-domain.key-3_value-3.leaf_value-4'],
    ['key-3=value-3 plain=value-4', '10/MINUTE test-domain.key-3.plain'],
  ],
)

describe('test/config: whatever the file', () => {
  let service: GrpcBench
  beforeAll(async () => {
    service = await grpcBench(fixture('test-domain'))
  })
  afterAll(() => service.close())

  test('an unknown domain has no limit, and does not become the name of a metric', async () => {
    for (const domain of ['foo_domain', 'bar']) expect(await met(service, domain, ['key2', 'x'])).toBe('none')
    const { body } = await service.admin.inject({ method: 'GET', url: '/metrics' })
    expect(body).toContain('ratelimit_service_domain_not_found 2')
    expect(body).not.toContain('foo_domain')
  })

  test('a limit that the request brings wins over the rule, and is counted by its entries', async () => {
    const own = { limit: { requests_per_unit: 42, unit: 'HOUR' } }
    expect(await met(service, 'test-domain', ['key1', 'value1', 'subkey1', 'something'], own)).toBe(
      '42/HOUR test-domain.key1_value1.subkey1_something',
    )
  })

  test('/rlconfig never shows values of requests', async () => {
    await met(service, 'test-domain', ['key7', 'secret'])
    const { body } = await service.admin.inject({ method: 'GET', url: '/rlconfig' })
    expect(body).toContain(
      'test-domain.key7: unit=MINUTE requests_per_unit=70, shadow_mode: false, quota_mode: false\n',
    )
    expect(body).toContain(
      'test-domain.key6: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false\n',
    )
    expect(body).not.toContain('secret')
  })
})
