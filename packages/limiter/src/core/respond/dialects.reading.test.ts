import { describe, expect, it } from 'vitest'
import type { HeaderLookup, ReadPolicy } from './dialect.ts'
import type { DialectName } from './dialect-writers.ts'
import { workedLines } from './dialects.lines.ts'
import { readings, shownCount } from './dialects.readings.ts'
import { dialects } from './dialects.ts'
import { vectors } from './dialects.vectors.ts'

const NOW = 1_700_000_000_000

/** What an answer with these header lines says. */
function read(dialect: DialectName, lines: string, nowMs = NOW): readonly ReadPolicy[] | undefined {
  const fields = new Map(lines.split(' · ').map((line) => line.split(/: (.*)/s) as [string, string]))
  const headers: HeaderLookup = (name) => fields.get(name)
  return dialects[dialect]().read(headers, nowMs)?.policies
}

describe.each(Object.entries(readings))('%s', (name, meant) => {
  it.each(Object.entries(vectors))('reads %s as it is meant: $meaning', (id, { report }) => {
    const dialect = name as DialectName
    expect(read(dialect, workedLines[dialect]![id]!)).toEqual(meant(report))
  })
})

describe('github', () => {
  it.each(Object.entries(vectors))(
    'reads %s as x-ratelimit-epoch does, with the name: $meaning',
    (id, vector) => {
      const expected = read('x-ratelimit-epoch', workedLines['x-ratelimit-epoch']![id]!)
      const found = read('github', workedLines.github![id]!)
      if (expected === undefined) expect(found).toBeUndefined()
      else {
        const policy = found![0]!.policy
        expect(found).toEqual([{ ...expected[0], policy }])
        expect(
          vector.report.policies.some(
            (each) => each.policy === policy && shownCount(each.limit) === expected[0]!.limit,
          ),
        ).toBe(true)
      }
    },
  )
})

describe('either draft with names', () => {
  it('is read in the parameters of the other', () => {
    const figures = [{ policy: 'a', remaining: 9, moreAfterMs: 5_000 }]
    for (const name of ['ietf', 'ietf-next'] as const) {
      expect(read(name, 'RateLimit: "a";r=9;t=5')).toEqual(figures)
      expect(read(name, 'RateLimit: "a";a=9;w=5;c=1')).toEqual(figures)
    }
  })

  it('is read where one of its fields is missing, or broken', () => {
    const quota = [{ policy: 'a', limit: 9, windowSeconds: 60, unit: 'requests' }]
    expect(read('ietf', 'RateLimit-Policy: "a";q=9;w=60')).toEqual(quota)
    expect(read('ietf', 'RateLimit-Policy: "a";q=9;w=60 · RateLimit: "a";r=9,')).toEqual(quota)
    expect(read('ietf', 'RateLimit-Policy: "a;q=9 · RateLimit: "a";r=9')).toEqual([
      { policy: 'a', remaining: 9 },
    ])
    expect(read('ietf', 'RateLimit-Policy: "a;q=9 · RateLimit: 7;r=9')).toBeUndefined()
  })

  it('takes names for tokens too, and more spaces, as others write them', () => {
    expect(
      read('ietf', 'RateLimit-Policy: quota; q=100 ;w=1 , "b";q=2 · RateLimit:  quota;  r=9; t=5'),
    ).toEqual([
      { policy: 'quota', limit: 100, windowSeconds: 1, unit: 'requests', remaining: 9, moreAfterMs: 5_000 },
      { policy: 'b', limit: 2, unit: 'requests' },
    ])
  })

  it('leaves out what is not a figure, and keeps the rest', () => {
    const text = (parameters: string): string =>
      `RateLimit-Policy: "a";q=5;w=0;qu=7 · RateLimit: "a"${parameters}`
    const quota = { policy: 'a', limit: 5 }
    for (const parameters of [';r=-1;t=x', ';r=1.5;t="5"', ';r;t=?0', ';acme-x=1.25'])
      expect(read('ietf', text(parameters))).toEqual([quota])
    expect(read('ietf', text(';r=1.0;t=3;r=4'))).toEqual([{ ...quota, remaining: 4, moreAfterMs: 3_000 }])
  })

  it('tells the counters of one policy apart by the bytes of their keys', () => {
    const policies = 'RateLimit-Policy: "p";q=5;pk=:cHsdsRa894==:, "p";q=7'
    expect(read('ietf', `${policies} · RateLimit: "p";r=6, "p";r=4;pk=:cHsdsRa89w:`)).toMatchObject([
      { limit: 5, remaining: 4, partitionKey: Uint8Array.of(0x70, 0x7b, 0x1d, 0xb1, 0x16, 0xbc, 0xf7) },
      { limit: 7, remaining: 6 },
    ])
  })

  it('accepts both names of the unit, and units of the server’s own', () => {
    const unit = (text: string): string | undefined =>
      read('ietf', `RateLimit-Policy: "a";q=1${text}`)![0]!.unit
    expect([unit(''), unit(';qu="request"'), unit(';qu="tokens"')]).toEqual([
      'requests',
      'requests',
      'tokens',
    ])
  })
})

describe('the dialects without names', () => {
  it('leave the window open where two quotas are the same', () => {
    expect(
      read('draft-07', 'RateLimit-Policy: 9;w=1, 9;w=60 · RateLimit: limit=9, remaining=1, reset=4'),
    ).toEqual([{ limit: 9, remaining: 1, resetAfterMs: 4_000 }])
  })

  it('are read as far as they go', () => {
    expect(read('draft-07', 'RateLimit: reset=4')).toEqual([{ resetAfterMs: 4_000 }])
    expect(read('draft-07', 'RateLimit-Policy: 9;w=1, x, 7, 5;w=2')).toEqual([
      { limit: 9, windowSeconds: 1 },
      { limit: 5, windowSeconds: 2 },
    ])
    expect(read('draft-06', 'RateLimit-Limit: 9 · RateLimit-Remaining: -1 · RateLimit-Reset: soon')).toEqual([
      { limit: 9 },
    ])
    expect(read('github', 'X-RateLimit-Resource: core')).toBeUndefined()
    expect(read('draft-03', '')).toBeUndefined()
  })

  it('are read with fractions: counts down, waits as they are', () => {
    expect(
      read(
        'x-ratelimit',
        'X-RateLimit-Limit: 600.0 · X-RateLimit-Remaining: 598.9 · X-RateLimit-Reset: 1.337',
      ),
    ).toEqual([{ limit: 600, remaining: 598, resetAfterMs: 1_337 }])
  })

  it('with a reset since the epoch give 0 once it has passed, and are exact to the millisecond', () => {
    const reset = (nowMs: number): unknown =>
      read('x-ratelimit-epoch', 'X-RateLimit-Reset: 1700000000', nowMs)
    expect(reset(NOW + 1)).toEqual([{ resetAfterMs: 0 }])
    expect(reset(NOW - 750)).toEqual([{ resetAfterMs: 750 }])
  })

  it('hold numbers of any length to 2^53 − 1', () => {
    const most = Number.MAX_SAFE_INTEGER
    const long = '9'.repeat(5_000)
    expect(read('x-ratelimit', `X-RateLimit-Limit: ${long} · X-RateLimit-Reset: ${long}`)).toEqual([
      { limit: most, resetAfterMs: most },
    ])
  })
})

describe('headers of any size', () => {
  it('are read up to 16 KiB', () => {
    const text = (length: number): string => `RateLimit: "a";r=1${' '.repeat(length - '"a";r=1'.length)}`
    expect(read('ietf', text(16_384))).toEqual([{ policy: 'a', remaining: 1 }])
    expect(read('ietf', text(16_385))).toBeUndefined()
  })

  it('give the first 100 policies', () => {
    const many = Array.from({ length: 150 }, (_, i) => i + 1)
    const quotas = many.map((i) => `${i};w=1`).join(', ')
    const items = many.map((i) => `"p${i}";r=1`).join(', ')
    expect(read('ietf', `RateLimit: ${items}`)).toHaveLength(100)
    expect(
      read(
        'ietf',
        `RateLimit-Policy: ${items.replaceAll('r=', 'q=').replaceAll('p', 'q')} · RateLimit: ${items}`,
      ),
    ).toHaveLength(100)
    expect(read('draft-07', `RateLimit-Policy: ${quotas} · RateLimit: limit=0`)).toHaveLength(100)
  })

  it('may be missing, as null too', () => {
    for (const make of Object.values(dialects)) {
      expect(make().read(() => null, NOW)).toBeUndefined()
      expect(make().read(() => undefined, NOW)).toBeUndefined()
    }
  })
})
