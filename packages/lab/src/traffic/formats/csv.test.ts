import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../limiter/src/cpu.test-support.ts'
import { readLine } from '../reading.test-support.ts'
import { csvReader, readHeader } from './csv.ts'

const csvParser = (columns: readonly string[]) => (text: string) => readLine(csvReader(columns), text)
const parse = csvParser(['t_ms', 'key', 'input_tokens'])

describe('the header of a CSV', () => {
  it('names its columns, t_ms among them', () => {
    expect(readHeader('\uFEFFt_ms, key,"input ""tokens"""')).toEqual(['t_ms', 'key', 'input "tokens"'])
    expect(readHeader('time,key')).toBeUndefined()
    expect(readHeader('t_ms,"key')).toBeUndefined()
    expect(readHeader('t_ms,key,key')).toBe('two columns are named "key"')
  })
})

describe('a row', () => {
  it('says when, and who under every name that a rulebook may use', () => {
    expect(parse('1500,acme,7')).toEqual({
      at: 1_500_000,
      request: {
        ip: 'acme',
        attributes: { user: 'acme', tenant: 'acme', 'api-key': 'acme', key: 'acme', input_tokens: '7' },
      },
    })
  })

  it('may state facts of a request, which win over the key', () => {
    const full = csvParser(['t_ms', 'key', 'ip', 'method', 'path', 'host', 'tenant'])
    expect(full('0.001,ada,192.0.2.1,POST,/login?x=1,shop.example,acme')).toEqual({
      at: 1,
      request: {
        ip: '192.0.2.1',
        method: 'POST',
        path: '/login',
        query: { x: '1' },
        host: 'shop.example',
        attributes: { user: 'ada', tenant: 'acme', 'api-key': 'ada', key: 'ada' },
      },
    })
  })

  it('may lack a value, and quote one', () => {
    expect(parse('0,"a,""b""",')).toMatchObject({ request: { attributes: { key: 'a,"b"' } } })
    expect(parse('0,,')).toEqual({ at: 0, request: { attributes: {} } })
  })

  it.each([
    ['', 'the line is empty'],
    ['1,a', '2 fields, where the header has 3'],
    ['1,"a,7', 'its quotes do not match'],
    ['1,a"b,7', 'its quotes do not match'],
    ['-1,a,7', 't_ms must be milliseconds, 0 or more'],
    ['1e3,a,7', 't_ms must be milliseconds, 0 or more'],
    ['NaN,a,7', 't_ms must be milliseconds, 0 or more'],
    ['99999999999999,a,7', 't_ms must be milliseconds, 0 or more'],
    [',a,7', 't_ms must be milliseconds, 0 or more'],
  ])('is not read when it says %j', (row, reason) => {
    expect(parse(row)).toBe(reason)
  })

  it('made to confuse takes no longer than another', () => {
    const before = cpuMs()
    parse(`0,"${'""'.repeat(30_000)}`)
    parse(','.repeat(60_000))
    expect(cpuMs() - before).toBeLessThan(1_000) // a few; in proportion to the square of the length, many seconds
  })
})
