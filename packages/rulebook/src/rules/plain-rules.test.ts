import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DescriptorText, descriptorSchema } from './descriptors.ts'
import { type LimitText, limitSchema } from './limits.ts'
import { plainDescriptor, plainLimit } from './plain-rules.ts'

const runs = Number(process.env.SLUICE_RUNS ?? 1_000)

const odd = fc.constantFrom<unknown>(
  '',
  ' ',
  0,
  1.5,
  -1,
  Number.NaN,
  2 ** 53,
  true,
  null,
  [],
  {},
  'x'.repeat(300),
)
/** One of these, and now and then something else. */
function mostly(...values: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...values) }, odd)
}
/** The same, or a list of them. */
function someOf(...values: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 2, arbitrary: mostly(...values) }, fc.array(mostly(...values), { maxLength: 3 }))
}
type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>
/** A map of these fields, now and then with those that are left to the schema, or something else. */
function mapOf(fields: Fields, others: Fields, ...always: string[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 30, arbitrary: fc.record(fields, { requiredKeys: always }) },
    fc.record({ ...fields, ...others, unknown: odd } as Fields, { requiredKeys: always }),
    odd,
  )
}

const when = mapOf(
  {
    method: someOf('GET', 'post'),
    path: someOf('/a/:b/**', '/A/%61', '/'),
    host: someOf('a.Example', '*.b', '[::1]'),
    header: mapOf({ 'X-A': someOf('1', '2'), b: someOf('1') }, { 'x-a': someOf('1'), 'x y': someOf('1') }),
    ip: someOf('10.0.0.0/8', '::/0'),
  },
  {
    query: mapOf({ q: someOf('1') }, {}),
    path: someOf('/a**', 'a'),
    host: someOf('a:80'),
    ip: someOf('10.0.0'),
  },
)
const limit = mapOf(
  {
    name: mostly('a', 'b c'),
    when,
    key: fc.array(mostly('ip', 'ip/24', 'header:x-a', 'user|fold'), { maxLength: 2 }),
    limit: mostly('5/minute', '300/3h', '1/calendar-day@Europe/Paris', '0/s'),
  },
  {
    name: mostly('ä'),
    key: mostly(['ipp']),
    limit: mostly('5/month', '5'),
    burst: mostly(3),
    mode: mostly('shadow'),
  },
  'name',
  'key',
  'limit',
)
const descriptor = mapOf(
  {
    key: mostly('a', 'b*'),
    value: mostly('', 'x', '*'),
    rate_limit: mapOf(
      { unit: mostly('minute', 'Hour', 'fortnight'), requests_per_unit: mostly(0, 5) },
      { unlimited: mostly(true) },
      'unit',
      'requests_per_unit',
    ),
  },
  { value: mostly(404), shadow_mode: mostly(true) },
  'key',
)

describe.each<
  [
    string,
    fc.Arbitrary<unknown>,
    (value: unknown) => LimitText | DescriptorText | undefined,
    typeof limitSchema | typeof descriptorSchema,
  ]
>([
  ['a limit', limit, plainLimit, limitSchema],
  ['a descriptor', descriptor, plainDescriptor, descriptorSchema],
])('%s', (_, values, plain, schema) => {
  it('that is read without the schema is read as the schema reads it', () => {
    let read = 0
    fc.assert(
      fc.property(values, (value) => {
        const found = plain(value)
        if (found === undefined) return
        read += 1
        const { data } = schema.safeParse(value)
        expect(found).toEqual(data)
        expect(JSON.stringify(found)).toBe(JSON.stringify(data))
      }),
      { numRuns: runs },
    )
    expect(read).toBeGreaterThan(runs / 10)
  })
})

describe('without the schema is read', () => {
  it.each([
    { name: 'a', key: [], limit: '5/minute' },
    { name: 'a', when: { path: '/a/**', method: ['get', 'POST'] }, key: ['ip'], limit: '5/minute' },
    { name: 'a', when: { header: { 'X-A': '1' }, host: '*.a', ip: '::/0' }, key: ['ip'], limit: '5/1m' },
  ])('the limit %j', (value) => {
    expect(plainLimit(value)).toEqual(limitSchema.parse(value))
  })

  it.each([
    { key: 'a' },
    { key: 'a', value: 'b*' },
    { key: 'a', value: '', rate_limit: { unit: 'minute', requests_per_unit: 5 } },
  ])('the descriptor %j', (value) => {
    expect(plainDescriptor(value)).toEqual(descriptorSchema.parse(value))
  })
})
