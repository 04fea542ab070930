import { describe, expect, it } from 'vitest'
import { BadQuestion, createPipeline } from '../../pipeline.ts'
import { MemoryStore } from '../../stores/memory.ts'
import type { Request } from '../request.ts'
import { compile } from './compile.ts'
import type { Limit } from './domain.ts'
import { explainRequest } from './explain.ts'
import { limit } from './limit.samples.ts'

/** For every fact with a form of its own: texts that do not have it, and what reads the fact. */
const UNREADABLE: readonly { field: string; values: unknown[]; readers: Partial<Limit>[] }[] = [
  {
    field: 'ip',
    values: [
      '192.0.2.999',
      '192.0.2.1, 10.0.0.1',
      '0x7f000001',
      '010.0.0.1',
      '1.2.3',
      '2001:db8::1::2',
      'unknown',
      '-',
      ' ',
      '192.0.2.1/24',
      '\u0000',
    ],
    readers: [
      { key: ['ip'] },
      { key: ['ip/24'] },
      { key: ['user', 'ip/24/56'] },
      { key: [], when: { ip: ['10.0.0.0/8'] } },
      { key: ['user'], exempt: ['10.0.0.0/8'] },
      { key: ['user'], overrides: [{ match: '10.0.0.1', quota: { limit: 1, period: '1s' } }] },
    ],
  },
  {
    field: 'host',
    values: ['a.example, b.example', 'a b', 'a/b', 'user@a.example', 'a\nb', '[::1', 'x:y:z'],
    readers: [
      { key: ['host'] },
      { key: [], when: { host: ['a.example'] } },
      { key: [], when: { host: ['*.a'] } },
    ],
  },
  {
    field: 'method',
    values: ['GET, POST', 'G ET', 'GET\r\n', 'GÉT'],
    readers: [{ key: ['method'] }, { key: [], when: { method: ['GET'] } }],
  },
  {
    field: 'attributes.user',
    values: [Number.NaN, Number.POSITIVE_INFINITY, true, { id: 1 }, ['ada']],
    readers: [{ key: ['user'] }, { key: ['attribute:user'] }],
  },
]

function requestWith(field: string, value: unknown): Request {
  const attributes = { user: 'ada' }
  if (field !== 'attributes.user') return { [field]: value, attributes }
  return { attributes: { ...attributes, user: value as string } }
}

describe('OF-09 what cannot be read is a mistake of the request, and not something that it lacks', () => {
  const cases = UNREADABLE.flatMap(({ field, values, readers }) =>
    readers.flatMap((reader) => values.map((value) => ({ field, value, reader }))),
  )

  it.each(cases)('$field $value for $reader', ({ field, value, reader }) => {
    for (const onMissingKey of ['skip', 'share', 'deny'] as const) {
      const rules = compile([
        { name: 'shop', descriptors: [], limits: [limit({ ...reader, onMissingKey }), limit({ name: 'b' })] },
      ])
      const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
      const ask = (request: Request) => pipeline.check({ domain: 'shop', request })
      const request = requestWith(field, value)
      expect(() => ask(request)).toThrow(BadQuestion)
      expect(() => ask(request)).toThrow(`request.${field} must be `)
      expect(explainRequest(rules, 'shop', request)[0]).toMatchObject({ applies: false })
      expect(explainRequest(rules, 'shop', request)[0]!.reason).toContain(`request.${field} must be `)
    }
  })

  it('and it does not matter where no rule reads it', () => {
    const rules = compile([{ name: 'shop', descriptors: [], limits: [limit({ key: ['user'] })] }])
    const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
    const request = { ip: 'unknown', host: 'a b', method: 'a b', attributes: { user: 'ada' } }
    expect(pipeline.check({ domain: 'shop', request }).matched.steps).toHaveLength(1)
  })

  it('OF-43: a text that is too long to be folded', () => {
    const long = 'a'.repeat(4_097)
    for (const reader of [{ key: ['user|fold'] }, { key: ['ip', 'user|fold'] }] as Partial<Limit>[]) {
      const rules = compile([{ name: 'shop', descriptors: [], limits: [limit(reader)] }])
      const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
      const ask = (user: string) =>
        pipeline.check({ domain: 'shop', request: { ip: '192.0.2.1', attributes: { user } } })
      expect(() => ask(long)).toThrow(BadQuestion)
      expect(() => ask(long)).toThrow('user|fold must be of at most 4096 characters, not 4097')
      expect(ask(long.slice(1)).matched.steps).toHaveLength(1)
    }
  })

  it.each([{}, { ip: '' }, { ip: '', host: '', method: '' }, { attributes: { user: '' } }])(
    'while %j only lacks it',
    (request) => {
      const rules = compile([
        {
          name: 'shop',
          descriptors: [],
          limits: [
            limit({ key: ['ip'] }),
            limit({ name: 'u', key: ['user'] }),
            limit({ name: 'h', key: ['host'] }),
          ],
        },
      ])
      const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })
      expect(pipeline.check({ domain: 'shop', request }).matched.missing).toEqual([limit({}).name, 'u', 'h'])
    },
  )
})
