import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Request } from '@sluice/limiter/rules'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { ReadCounts } from './read-source.ts'
import { readTraffic } from './read-traffic.ts'
import { sourceOf } from './reading.test-support.ts'
import { sourcesOf, type TrafficSource } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-traffic-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, bytes: string | Buffer): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, bytes)
  return path
}

/** A zstd frame whose blocks are not compressed (RFC 8878 §3.1.1.2). */
function zstd(text: string): Buffer {
  const bytes = Buffer.from(text)
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0])
  head.writeUInt32LE(bytes.length, 5)
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3)
  return Buffer.concat([head, bytes])
}

async function read(
  sources: readonly TrafficSource[],
  held?: number,
): Promise<{ found: [number, string][]; counts: ReadCounts }> {
  const counts = new ReadCounts()
  const found: [number, string][] = []
  const make = ({ ip = '' }: Request) => ({ ip })
  for await (const { length, at, made } of readTraffic(sources, { make, held }, counts)) {
    for (let i = 0; i < length; i++) found.push([at[i]! / 1_000, made[i]!.ip])
  }
  return { found, counts }
}

const rows = (...times: number[]): string => `t_ms,key\n${times.map((ms) => `${ms},k${ms}\n`).join('')}`
const keyed = (...times: number[]): [number, string][] => times.map((ms) => [ms, `k${ms}`])

describe('several logs', () => {
  it('are one in the order of their times, rotated, packed and plain ones', async () => {
    const paths = [
      write('logs/access.log', rows(70, 80, 75)),
      write('logs/access.log.1', rows(40, 60)),
      write('logs/access.log.2.gz', gzipSync(rows(10, 30))),
      write('logs/old/access.log.3.zst', zstd(rows(1, 5))),
    ]
    const expected = keyed(1, 5, 10, 30, 40, 60, 70, 75, 80)
    const shuffled = [paths[1]!, paths[3]!, paths[0]!, paths[2]!]
    for (const named of [shuffled, [join(folder, 'logs')], [...paths, join(folder, 'logs')]]) {
      expect(await read(sourcesOf(named))).toMatchObject({
        found: expected,
        counts: { requests: 9, late: 0 },
      })
    }
    expect((await read(sourcesOf([join(folder, 'logs/access.log*')]))).found).toEqual(
      keyed(10, 30, 40, 60, 70, 75, 80),
    )
  })

  it('may run side by side', async () => {
    const sources = [sourceOf(rows(1, 4, 7), 'a'), sourceOf(rows(2, 4, 9), 'b'), sourceOf('', 'c')]
    expect((await read(sources)).found).toEqual(keyed(1, 2, 4, 4, 7, 9))
  })

  it('name the file of a line that is no request', async () => {
    const { counts } = await read([sourceOf(`${rows(1)}x\n`, 'a'), sourceOf(`${rows(2)}1,2,3\n`, 'b')])
    expect(counts.shown).toEqual([
      { file: 'a', line: 3, reason: '1 fields, where the header has 2' },
      { file: 'b', line: 3, reason: '3 fields, where the header has 2' },
    ])
  })

  it('are not opened before their time comes', async () => {
    const open = new Set<string>()
    let most = 0
    const watched = (name: string, ...times: number[]): TrafficSource => ({
      ...sourceOf(rows(...times), name, 16),
      open: async function* () {
        open.add(name)
        most = Math.max(most, open.size)
        try {
          yield* sourceOf(rows(...times), name, 16).open()
        } finally {
          open.delete(name)
        }
      },
    })
    await read([watched('a', 1, 2, 3), watched('b', 4, 5, 6), watched('c', 7, 8, 9)])
    expect(most).toBeLessThanOrEqual(2)
  })

  it('are the same as all their lines sorted', async () => {
    const log = fc.array(fc.nat(60), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(fc.array(log, { minLength: 1, maxLength: 4 }), async (logs) => {
        const sources = logs.map((times, i) => sourceOf(rows(...times), `${i}`, 64))
        const { found, counts } = await read(sources)
        expect(found).toEqual(keyed(...logs.flat().sort((a, b) => a - b)))
        expect(counts.late).toBe(0)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a source', () => {
  it('is unpacked where it is zstd, in several frames and cut anywhere', async () => {
    const packed = Buffer.concat([zstd(rows(1, 2)), zstd('3,k3\n')])
    for (const size of [1, 3, 1_000]) {
      const source = sourceOf(packed, 'log', size)
      expect((await read([source])).found).toEqual(keyed(1, 2, 3))
    }
    await expect(read([sourceOf(packed.subarray(0, -3), 'log')])).rejects.toThrow(
      'cannot read log: its zstd data are damaged or end too early',
    )
  })

  it('must be there', () => {
    expect(() => sourcesOf([join(folder, 'gone.log')])).toThrow('gone.log: there is no such file')
    expect(() => sourcesOf([join(folder, 'gone*.log')])).toThrow('gone*.log: there is no file in it')
    mkdirSync(join(folder, 'empty'))
    expect(() => sourcesOf([join(folder, 'empty')])).toThrow('empty: there is no file in it')
  })
})
