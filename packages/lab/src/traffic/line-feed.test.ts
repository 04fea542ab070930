import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { MAX_LINE, textLines } from './line-feed.ts'
import { unpacked } from './unpacked.ts'

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

async function lines(text: string | Buffer, size = 7): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = []
  for await (const line of textLines(unpacked(inChunks(Buffer.from(text as string), size)))) found.push(line)
  return found
}

describe('lines', () => {
  it('end as they end anywhere, wherever the bytes were cut', async () => {
    for (const size of [1, 2, 3, 100]) {
      expect(await lines('a\nжб\r\n\n€ end', size)).toEqual(['a', 'жб', '', '€ end'])
    }
    expect(await lines('')).toEqual([])
    expect(await lines('a\n')).toEqual(['a'])
  })

  it('that are too long are passed over, and the next one is read', async () => {
    const long = 'x'.repeat(MAX_LINE + 1)
    expect(await lines(`a\n${long}\nb\n${long}${long}\nc\n${long}`, 10_000)).toEqual([
      'a',
      undefined,
      'b',
      undefined,
      'c',
      undefined,
    ])
    expect(await lines(`${'x'.repeat(MAX_LINE)}\n`, 10_000)).toEqual(['x'.repeat(MAX_LINE)])
  })

  it('are unzipped, also in several members and cut after the first byte', async () => {
    const zipped = Buffer.concat([gzipSync('a\nb\n'), gzipSync('c\n')])
    expect(await lines(zipped, 1)).toEqual(['a', 'b', 'c'])
    expect(await lines(Buffer.from([0x1f]), 1)).toHaveLength(1)
  })

  it('that cannot be unzipped to the end are an error, not the end', async () => {
    const zipped = gzipSync('a\nb\n'.repeat(100))
    await expect(lines(zipped.subarray(0, -9))).rejects.toMatchObject({ code: 'Z_BUF_ERROR' })
    zipped[12]! ^= 255
    await expect(lines(zipped)).rejects.toMatchObject({ code: expect.stringMatching(/^Z_/) })
  })
})
