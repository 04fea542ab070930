import { describe, expect, it } from 'vitest'
import { mistakeIn } from './mistake.test-support.ts'
import { readBatch, readLooseQuestion, readQuestion } from './question.ts'

const entries = [{ key: 'a', value: 'b' }]
const WHOLE = 'a whole number from 0 to 2^53−1'

const inRequest = (request: object): object => ({ domain: 'shop', request })
const inDescriptor = (more: object): object => ({ domain: 'shop', descriptors: [{ entries }, more] })

describe('a question', () => {
  it('with all that it may have is read', () => {
    const request = {
      method: 'POST',
      path: '/login',
      host: 'example.com',
      ip: '192.0.2.1',
      headers: { 'x-model': 'large' },
      query: { q: '' },
      attributes: { user: 'ada', age: 36, id: Number.MAX_SAFE_INTEGER, below: -1 },
    }
    expect(readQuestion({ domain: 'shop', request, cost: 0 })).toEqual({ domain: 'shop', request, cost: 0 })
  })

  it('of descriptors is read, with the limit as rules are matched', () => {
    const descriptors = [
      { entries, cost: 2, limit: { requests_per_unit: 5, unit: 'minute' } },
      { entries, limit: { requests_per_unit: 0, unit: 'day' } },
      { entries },
    ]
    expect(readQuestion({ domain: '', descriptors, cost: Number.MAX_SAFE_INTEGER })).toEqual({
      domain: '',
      descriptors: [
        { entries, cost: 2, limit: { requestsPerUnit: 5, unit: 'minute' } },
        { entries, limit: { requestsPerUnit: 0, unit: 'day' } },
        { entries },
      ],
      cost: Number.MAX_SAFE_INTEGER,
    })
  })

  it('has header names in lower case, and one header of several spellings once', () => {
    const read = (headers: object): unknown => readQuestion(inRequest({ path: '/', headers })).request
    expect(read({ 'X-Model': 'm', accept: '*' })).toEqual({
      path: '/',
      headers: { 'x-model': 'm', accept: '*' },
    })
    expect(read({ 'X-A': '1', b: '2', 'x-a': '3' })).toEqual({
      path: '/',
      headers: { 'x-a': '1, 3', b: '2' },
    })
  })

  it('is not changed by being read', () => {
    const body = inRequest({ headers: { 'X-A': '1' } })
    readQuestion(Object.freeze(body))
    expect(body).toEqual(inRequest({ headers: { 'X-A': '1' } }))
  })

  it('may leave its domain open where the reader allows it', () => {
    expect(readLooseQuestion({ request: {} })).toEqual({ request: {} })
    expect(readLooseQuestion({ domain: 'shop', request: {}, cost: 2 })).toEqual({
      domain: 'shop',
      request: {},
      cost: 2,
    })
    expect(mistakeIn(() => readLooseQuestion({ domain: 1, request: {} })).path).toBe('domain')
    expect(mistakeIn(() => readLooseQuestion({})).message).toBe(
      'the body must have either request or descriptors',
    )
  })
})

describe('a question with a mistake', () => {
  it.each<[unknown, string, string]>([
    [undefined, '', 'the body must be an object'],
    [null, '', 'the body must be an object'],
    [[], '', 'the body must be an object'],
    ['{}', '', 'the body must be an object'],
    [{}, 'domain', 'domain is missing'],
    [{ domain: 'shop' }, '', 'the body must have either request or descriptors'],
    [
      { domain: 'shop', request: {}, descriptors: [{ entries }] },
      '',
      'the body must have either request or descriptors',
    ],
    [
      { domain: null, request: {} },
      'domain',
      'domain must be text of at most 256 characters, without control characters',
    ],
    [{ domian: 'shop', request: {} }, '', 'unknown field "domian" in the body'],
    [
      { domain: 'shop', request: {}, ['x'.repeat(101)]: 1 },
      '',
      `unknown field "${'x'.repeat(100)}…" in the body`,
    ],
    [{ domain: 'shop', request: {}, cost: -1 }, 'cost', `cost must be ${WHOLE}`],
    [{ domain: 'shop', request: {}, cost: 0.5 }, 'cost', `cost must be ${WHOLE}`],
    [{ domain: 'shop', request: {}, cost: 2 ** 53 }, 'cost', `cost must be ${WHOLE}`],
    [{ domain: 'shop', request: {}, cost: '1' }, 'cost', `cost must be ${WHOLE}`],
    [{ domain: 'shop', request: {}, cost: null }, 'cost', `cost must be ${WHOLE}`],
    [{ domain: 'shop', request: null }, 'request', 'request must be an object'],
    [inRequest({ pth: '/' }), 'request', 'unknown field "pth" in request'],
    [inRequest({ ip: 1 }), 'request.ip', 'request.ip must be text of at most 16384 characters'],
    [
      inRequest({ headers: [] }),
      'request.headers',
      'request.headers must be an object of at most 128 fields',
    ],
    [
      inRequest({ headers: { 'x-a': 1 } }),
      'request.headers.x-a',
      'request.headers.x-a must be text of at most 16384 characters',
    ],
    [
      inRequest({ query: { '0': null } }),
      'request.query.0',
      'request.query.0 must be text of at most 16384 characters',
    ],
    [
      inRequest({ attributes: { a: true } }),
      'request.attributes.a',
      'request.attributes.a must be a number, or text of at most 16384 characters',
    ],
    [{ domain: 'shop', descriptors: [] }, 'descriptors', 'descriptors must be a list of 1 to 128'],
    [{ domain: 'shop', descriptors: {} }, 'descriptors', 'descriptors must be a list of 1 to 128'],
    [{ domain: 'shop', descriptors: ['a'] }, 'descriptors[0]', 'descriptors[0] must be an object'],
    [inDescriptor({}), 'descriptors[1].entries', 'descriptors[1].entries is missing'],
    [
      inDescriptor({ entries: [] }),
      'descriptors[1].entries',
      'descriptors[1].entries must be a list of 1 to 128',
    ],
    [inDescriptor({ entires: [] }), 'descriptors[1]', 'unknown field "entires" in descriptors[1]'],
    [
      inDescriptor({ entries: [{ key: 'a' }] }),
      'descriptors[1].entries[0].value',
      'descriptors[1].entries[0].value is missing',
    ],
    [
      inDescriptor({ entries: [{ key: 'a', value: 1 }] }),
      'descriptors[1].entries[0].value',
      'descriptors[1].entries[0].value must be text of at most 16384 characters',
    ],
    [inDescriptor({ entries, cost: -1 }), 'descriptors[1].cost', `descriptors[1].cost must be ${WHOLE}`],
    [
      inDescriptor({ entries, limit: { unit: 'day' } }),
      'descriptors[1].limit.requests_per_unit',
      'descriptors[1].limit.requests_per_unit is missing',
    ],
    [
      inDescriptor({ entries, limit: { unit: 'day', requests_per_unit: '5' } }),
      'descriptors[1].limit.requests_per_unit',
      `descriptors[1].limit.requests_per_unit must be ${WHOLE}`,
    ],
  ])('such as %j says where and what', (body, path, message) => {
    expect(mistakeIn(() => readQuestion(body))).toMatchObject({ path, message, code: 'ERR_SLUICE_WIRE' })
  })

  it('names the fields that may stand where an unknown one does', () => {
    expect(mistakeIn(() => readQuestion(inDescriptor({ entires: [] }))).unknown).toEqual({
      name: 'entires',
      known: ['entries', 'cost', 'limit'],
    })
    expect(mistakeIn(() => readQuestion({})).unknown).toBeUndefined()
  })

  it('calls the whole what the reader calls it', () => {
    expect(mistakeIn(() => readQuestion([], undefined, 'the request')).message).toBe(
      'the request must be an object',
    )
  })
})

describe('a number for an attribute', () => {
  const read = (json: string): unknown =>
    readQuestion(JSON.parse(`{ "domain": "shop", "request": { "attributes": { "n": ${json} } } }`)).request
      ?.attributes?.n

  it.each(['0', '-1', '1e3', '9007199254740991', '-9007199254740991'])('%s is kept exactly', (json) => {
    expect(read(json)).toBe(Number(json))
  })

  it.each(['9007199254740992', '9007199254740993', '-9007199254740993', '1e21', '1e400', '0.1'])(
    'OF-08: %s is to be sent as text',
    (json) => {
      expect(mistakeIn(() => read(json))).toMatchObject({
        path: 'request.attributes.n',
        message:
          'request.attributes.n must be a whole number from −(2^53−1) to 2^53−1; send any other number as text',
      })
      expect(read(JSON.stringify(json))).toBe(json)
    },
  )
})

describe('bounds', () => {
  const bounds = { maxTextLength: 3, maxEntries: 2, maxBatch: 1 }
  const read = (body: unknown): unknown => readQuestion(body, bounds)

  it.each([
    [{ domain: 'abc', request: { path: 'abc', headers: { a: 'abc', abc: '' } } }],
    [{ domain: 'abc', request: { attributes: { a: 'abc', b: 1_000_000 } } }],
    [{ domain: '😀😀😀', request: {} }],
    [{ domain: 'a', descriptors: [{ entries: [...entries, ...entries] }, { entries }] }],
  ])('%j is within them', (body) => {
    expect(read(body)).toEqual(body)
  })

  it.each<[unknown, string]>([
    [
      { domain: 'abcd', request: {} },
      'domain must be text of at most 3 characters, without control characters',
    ],
    [
      { domain: '😀😀😀😀', request: {} },
      'domain must be text of at most 3 characters, without control characters',
    ],
    [
      { domain: 'a', request: { query: { abcd: '' } } },
      'request.query must have names of at most 3 characters',
    ],
    [
      { domain: 'a', request: { query: { a: '', b: '', c: '' } } },
      'request.query must be an object of at most 2 fields',
    ],
    [
      { domain: 'a', descriptors: [{ entries }, { entries }, { entries }] },
      'descriptors must be a list of 1 to 2',
    ],
    [
      { domain: 'a', descriptors: [{ entries: [...entries, ...entries, ...entries] }] },
      'descriptors[0].entries must be a list of 1 to 2',
    ],
  ])('%j is outside them', (body, message) => {
    expect(mistakeIn(() => read(body)).message).toBe(message)
  })

  it('hold for a batch, of which each item is read by itself', () => {
    expect(readBatch([], bounds)).toEqual([])
    expect(readBatch(['nonsense'], bounds)).toEqual(['nonsense'])
    expect(mistakeIn(() => readBatch([1, 2], bounds)).message).toBe('the body must be a list of 0 to 1')
    expect(mistakeIn(() => readBatch({})).message).toBe('the body must be a list of 0 to 1000')
  })
})

describe('names that every object inherits', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

  it.each(NAMES)('%s is an unknown field where fields are fixed', (name) => {
    const places = [
      `{ "domain": "shop", "request": {}, "${name}": {} }`,
      `{ "domain": "shop", "request": { "${name}": {} } }`,
      `{ "domain": "shop", "descriptors": [{ "entries": [{ "key": "a", "value": "b", "${name}": {} }] }] }`,
    ]
    for (const json of places) {
      expect(mistakeIn(() => readQuestion(JSON.parse(json))).unknown?.name).toBe(name)
    }
  })

  it.each(NAMES)('%s is a name like any other where the caller chooses', (name) => {
    for (const header of ['x-a', 'X-A']) {
      const json = `{ "domain": "shop", "request": { "headers": { "${name}": "v", "${header}": "" } } }`
      const { headers = {} } = readQuestion(JSON.parse(json)).request!
      expect(Object.entries(headers)).toEqual([
        [name.toLowerCase(), 'v'],
        ['x-a', ''],
      ])
      expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
    }
  })

  it('stand for no field that is missing', () => {
    const json = '{ "__proto__": { "domain": "shop" }, "request": {} }'
    expect(mistakeIn(() => readLooseQuestion(JSON.parse(json))).unknown?.name).toBe('__proto__')
  })
})
