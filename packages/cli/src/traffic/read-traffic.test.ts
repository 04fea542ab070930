import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogEntry, Unreadable } from './entry.ts'
import { readTraffic, type TrafficOptions } from './read-traffic.ts'

const LINE = '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 512'

async function read(text: string | Buffer, options?: TrafficOptions): Promise<(LogEntry | Unreadable)[]> {
  const found: (LogEntry | Unreadable)[] = []
  const bytes = (async function* () {
    yield Buffer.from(text as string)
  })()
  for await (const each of readTraffic(bytes, options)) found.push(each)
  return found
}

describe('traffic', () => {
  it('is read in the format that its first line shows', async () => {
    expect(await read(`${LINE}\nnonsense\n${LINE} "-" "curl/8"\n`)).toMatchObject([
      { line: 1, request: { ip: '192.0.2.1' } },
      { line: 2, reason: 'there is no time such as [17/May/2015:10:05:03 +0000]' },
      { line: 3, request: { headers: { 'user-agent': 'curl/8' } } },
    ])
    expect(await read('t_ms,key\n5,a\n')).toMatchObject([{ line: 2, at: 5_000 }])
  })

  it('is read in the format that was asked for', async () => {
    expect(await read('t_ms,key\n5,a\n', { format: 'common' })).toMatchObject([{ line: 1 }, { line: 2 }])
    await expect(read(LINE, { format: 'csv' })).rejects.toThrow('must name its columns, t_ms among them')
    await expect(read('t_ms,a,a\n')).rejects.toThrow('the first line is no header: two columns are named "a"')
  })

  it('costs what the named attributes come to', async () => {
    const rows = 't_ms,key,in,out\n0,a,3,4\n1,a,3,x\n2,a,,4\n3,a,9007199254740991,1\n'
    expect(await read(rows, { cost: ['in', 'out'] })).toMatchObject([
      { line: 2, cost: 7 },
      { line: 3, reason: 'out must be a whole number, to be a cost' },
      { line: 4, reason: 'in must be a whole number, to be a cost' },
      { line: 5, reason: 'its cost is more than 2^53−1' },
    ])
    expect(await read(LINE, { cost: ['bytes'] })).toMatchObject([{ cost: 512 }])
  })

  it('costs nothing that is no column', async () => {
    await expect(read(LINE, { cost: ['byte'] })).rejects.toThrow(
      'unknown column "byte" (did you mean "bytes"?)',
    )
    await expect(read('t_ms,in\n0,1\n', { cost: ['__proto__'] })).rejects.toThrow(
      'unknown column "__proto__"',
    )
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
        LINE,
        LINE.slice(0, 40),
        '17/May/2015:10:05:03',
      ),
    )
    const line = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('').replaceAll('\n', ''))
    const head = fc.constantFrom(`${LINE}\n`, 't_ms,key,"a b"\n')
    await fc.assert(
      fc.asyncProperty(head, fc.array(line), async (first, lines) => {
        const found = await read(`${first}${lines.map((each) => `${each}\n`).join('')}`)
        const rows = first.startsWith('t_ms') ? lines.length : lines.length + 1
        expect(found).toHaveLength(rows)
        for (const each of found) {
          if ('reason' in each) expect(each.reason).not.toBe('')
          else expect(Number.isSafeInteger(each.at) && each.at >= 0).toBe(true)
        }
      }),
    )
  })

  it('is never a crash, even as raw bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        fc.pre(bytes[0] !== 0x1f)
        await read(Buffer.from(bytes))
      }),
    )
  })
})
