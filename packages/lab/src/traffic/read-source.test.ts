import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAll } from './reading.test-support.ts'

const LINE = '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 512'
const AT = Date.UTC(2015, 4, 17, 10, 5, 3) * 1_000

describe('traffic', () => {
  it('is read in the format that its first lines show', async () => {
    expect(await readAll(`${LINE}\nnonsense\n${LINE} "-" "curl/8"\n`)).toMatchObject({
      entries: [
        { at: AT, request: { ip: '192.0.2.1' } },
        { request: { headers: { 'user-agent': 'curl/8' } } },
      ],
      unreadable: [{ line: 2, reason: 'there is no time such as [17/May/2015:10:05:03 +0000]' }],
    })
    expect(await readAll('t_ms,key\n5,a\n')).toMatchObject({ entries: [{ at: 5_000 }], unreadable: [] })
  })

  it('is read in the format that was asked for', async () => {
    const { unreadable } = await readAll('t_ms,key\n5,a\n', { format: 'common' })
    expect(unreadable).toMatchObject([{ line: 1 }, { line: 2 }])
    await expect(readAll(LINE, { format: 'csv' })).rejects.toThrow('must name its columns, t_ms among them')
    await expect(readAll('t_ms,a,a\n')).rejects.toThrow(
      'the first line is no header: two columns are named "a"',
    )
  })

  it('costs what the named attributes come to', async () => {
    const rows = 't_ms,key,in,out\n0,a,3,4\n1,a,3,x\n2,a,,4\n3,a,9007199254740991,1\n'
    expect(await readAll(rows, { cost: ['in', 'out'] })).toMatchObject({
      entries: [{ cost: 7 }],
      unreadable: [
        { line: 3, reason: 'out must be a whole number, to be a cost' },
        { line: 4, reason: 'in must be a whole number, to be a cost' },
        { line: 5, reason: 'its cost is more than 2^53−1' },
      ],
    })
    expect(await readAll(LINE, { cost: ['bytes'] })).toMatchObject({ entries: [{ cost: 512 }] })
  })

  it('costs nothing that is no column', async () => {
    await expect(readAll(LINE, { cost: ['byte'] })).rejects.toThrow(
      'unknown column "byte" (did you mean "bytes"?)',
    )
    await expect(readAll('t_ms,in\n0,1\n', { cost: ['__proto__'] })).rejects.toThrow(
      'unknown column "__proto__"',
    )
  })

  it('makes what it makes once of lines that are equal where it counts', async () => {
    const made: string[] = []
    const rows = `t_ms,key,path\n${'0,a,/x\n1,a,/y\n2,b,/x\n3,a,/x\n'.repeat(3)}`
    const { unreadable } = await readAll(rows, { wanted: new Set(['key']) })
    expect(unreadable).toEqual([])
    const { ReadCounts, readSource } = await import('./read-source.ts')
    const { sourceOf } = await import('./reading.test-support.ts')
    const counts = new ReadCounts()
    const make = ({ attributes }: { attributes?: object }) => {
      made.push(JSON.stringify(attributes))
      return {}
    }
    for await (const _ of readSource(sourceOf(rows), { wanted: new Set(['key']), make }, counts));
    expect(counts.requests).toBe(12)
    expect(made).toHaveLength(2)
  })

  it('is a request or unreadable, line by line, whatever the lines hold', async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '"',
        '\\',
        '[',
        ']',
        ',',
        ' ',
        '-',
        '\r',
        '{',
        '}',
        ':',
        '/',
        LINE,
        LINE.slice(0, 40),
        '17/May/2015:10:05:03',
      ),
    )
    const line = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('').replaceAll('\n', ''))
    const head = fc.constantFrom(
      `${LINE}\n`,
      't_ms,key,"a b"\n',
      '#Fields: date time c-ip cs-uri-stem\n',
      '{"ts":1,"request":{"client_ip":"192.0.2.1","method":"GET","uri":"/"}}\n',
      '[2016-04-15T20:17:00.310Z] "GET / HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "a" "b" "c" "d"\n',
    )
    await fc.assert(
      fc.asyncProperty(head, fc.array(line), async (first, lines) => {
        const text = `${first}${lines.map((each) => `${each}\n`).join('')}`
        const { entries } = await readAll(text)
        for (const { at } of entries) expect(Number.isSafeInteger(at) && at >= 0).toBe(true)
        if (!first.startsWith('#')) {
          const rows = first.startsWith('t_ms') ? lines.length : lines.length + 1
          expect(entries.length).toBeLessThanOrEqual(rows)
        }
      }),
    )
  })

  it('is never a crash, even as raw bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        fc.pre(bytes[0] !== 0x1f)
        await readAll(Buffer.from(bytes))
      }),
    )
  })
})
