import { type Dialect, dialects, type Header, type Report } from '@sluice/limiter/respond'
import { describe, expect, it } from 'vitest'
import { dialectSuite } from './dialect.ts'

const { ietf } = dialects
const xRateLimit = dialects['x-ratelimit']()
const xRateLimitEpoch = dialects['x-ratelimit-epoch']()

/** The tests that a dialect fails. */
function failures(make: () => Dialect): string[] {
  const failed: string[] = []
  dialectSuite(
    {
      describe: (_name, body) => body(),
      it(name, body) {
        try {
          body()
        } catch {
          failed.push(name)
        }
      },
    },
    make,
    { runs: 100 },
  )
  return failed
}

const spoilt =
  (spoil: Partial<Dialect>, dialect: Dialect = xRateLimit): (() => Dialect) =>
  () => ({ ...dialect, ...spoil })

/** The lines of `x-ratelimit` with one value exchanged. */
const exchanged =
  (name: string, value: (old: string, report: Report) => string) =>
  (report: Report): Header[] =>
    xRateLimit.headers(report).map((line) => (line[0] === name ? [name, value(line[1], report)] : line))

const ROUNDS_UP = 'reads back no time that is too short, or a second too long'
const EXACT = 'reads back limits and what remains, exactly'
const REFUSED = 'reports, of a refusal, a policy that refused'
const LISTED = 'sends only headers that it lists, each of them once'
const VISIBLE = 'sends printable ASCII in one line, whatever a policy is called'
const WHOLE = 'writes whole numbers, of figures of any size'
const PURE = 'depends on the report alone, and leaves it as it is'
const CURRENT = 'keeps nothing of a report that is changed later'
const ANY_TEXT = 'reads any text without failing, and gives no figure that cannot be'

describe('the dialect suite', () => {
  it('passes a dialect that only wraps another', () => {
    expect(failures(spoilt({}))).toEqual([])
    expect(failures(spoilt({}, ietf()))).toEqual([])
  })

  it('finds out a dialect that always sends the same text', () => {
    const fixed = xRateLimit.names.map((name): Header => [name, '1'])
    const failed = failures(spoilt({ headers: () => [...fixed] }))
    expect(failed).toContain('sends nothing where there is no policy')
    expect(failed).toContain('reports an admitted request')
    expect(failed).toContain(EXACT)
  })

  it('finds out a dialect that says nothing', () => {
    const failed = failures(spoilt({ headers: () => [], read: () => undefined }))
    expect(failed).toContain('reports an admitted request')
    expect(failed).toContain('reports a refused request')
  })

  it('finds out seconds that are rounded down, or to the nearest', () => {
    for (const round of [Math.floor, Math.round]) {
      const reset = exchanged('X-RateLimit-Reset', (old, { policies }) => {
        const own = policies.find(({ resetAfterMs }) => `${Math.ceil((resetAfterMs ?? 0) / 1_000)}` === old)
        return own === undefined ? old : `${round(own.resetAfterMs! / 1_000)}`
      })
      const failed = failures(spoilt({ headers: reset }))
      expect(failed).toContain(ROUNDS_UP)
      expect(failed).toContain('is right about just over a second left, or sends nothing')
      expect(failed).not.toContain(EXACT)
    }
  })

  it('finds out a second too many', () => {
    const later = exchanged('X-RateLimit-Reset', (old) => `${Number(old) + 1}`)
    expect(failures(spoilt({ headers: later }))).toContain(ROUNDS_UP)
  })

  it('finds out a policy that passed in place of the one that refused', () => {
    const tightest = (report: Report): Header[] => xRateLimit.headers({ ...report, allowed: true })
    expect(failures(spoilt({ headers: tightest }))).toContain(REFUSED)
    const first = (report: Report): Header[] =>
      xRateLimit.headers({ ...report, allowed: true, policies: report.policies.slice(0, 1) })
    const failed = failures(spoilt({ headers: first }))
    expect(failed).toContain('reports a refused request, where another policy passed with less left')
    expect(failed).toContain(REFUSED)
  })

  it('finds out figures of two policies put together', () => {
    const mixed = exchanged(
      'X-RateLimit-Limit',
      (old, { policies }) => `${Math.max(0, Math.trunc(policies[0]!.limit)) || old}`,
    )
    expect(failures(spoilt({ headers: mixed }))).toContain(EXACT)
  })

  it('finds out headers that are not listed, in that case, or are sent twice', () => {
    const more = (report: Report): Header[] => {
      const lines = xRateLimit.headers(report)
      return lines.length === 0 ? [] : [...lines, ['X-Debug', '1']]
    }
    expect(failures(spoilt({ headers: more }))).toEqual([LISTED])
    const lower = xRateLimit.names.map((name) => name.toLowerCase())
    expect(failures(spoilt({ names: lower }))).toContain(LISTED)
    const twice = (report: Report): Header[] => [...xRateLimit.headers(report), ...xRateLimit.headers(report)]
    expect(failures(spoilt({ headers: twice }))).toEqual([LISTED])
  })

  it('finds out a list that cannot be', () => {
    const title = 'has a name, and lists the headers that it sends'
    for (const names of [[], ['X RateLimit'], [...xRateLimit.names, 'x-ratelimit-limit']]) {
      expect(failures(spoilt({ names }))).toContain(title)
    }
    expect(failures(spoilt({ name: '' }))).toEqual([title])
  })

  it('finds out a name that breaks the line', () => {
    const named = (report: Report): Header[] => {
      const lines = xRateLimit.headers(report)
      return lines.length === 0 ? [] : [...lines, ['X-RateLimit-Policy', report.policies[0]!.policy]]
    }
    const names = [...xRateLimit.names, 'X-RateLimit-Policy']
    expect(failures(spoilt({ headers: named, names }))).toEqual([VISIBLE])
  })

  it('finds out numbers that are not whole, negative, or written with an exponent', () => {
    for (const text of [
      (n: number) => `${n}`,
      (n: number) => `${Math.trunc(n)}`,
      (n: number) => n.toFixed(1),
    ]) {
      const raw = exchanged('X-RateLimit-Limit', (old, { policies }) => {
        const own = policies.find(
          ({ limit }) => Math.min(999_999_999_999_999, Math.max(0, Math.floor(limit))) === Number(old),
        )
        return own === undefined ? old : text(own.limit)
      })
      expect(failures(spoilt({ headers: raw }))).toContain(WHOLE)
    }
  })

  it('finds out a dialect that changes its report', () => {
    const sorting = (report: Report): Header[] => {
      const policies = report.policies as Report['policies'][number][]
      policies.sort((a, b) => a.remaining - b.remaining)
      return xRateLimit.headers(report)
    }
    expect(failures(spoilt({ headers: sorting }))).toContain(PURE)
  })

  it('finds out a dialect that counts its calls', () => {
    const counting = (): Dialect => {
      let calls = 0
      return { ...xRateLimit, headers: (report) => (calls++ % 2 === 0 ? xRateLimit.headers(report) : []) }
    }
    expect(failures(counting)).toContain(PURE)
  })

  it('finds out a dialect that remembers a report by what it is, not by what it says', () => {
    const remembering = (): Dialect => {
      const known = new WeakMap<Report, Header[]>()
      return {
        ...xRateLimit,
        headers(report) {
          const lines = known.get(report) ?? xRateLimit.headers(report)
          known.set(report, lines)
          return lines
        },
      }
    }
    expect(failures(remembering)).toEqual([CURRENT])
  })

  it('finds out a dialect that throws', () => {
    const thrower = (report: Report): Header[] => {
      if (report.policies.some(({ windowSeconds }) => windowSeconds === undefined))
        throw new TypeError('no window')
      return xRateLimit.headers(report)
    }
    const failed = failures(spoilt({ headers: thrower }))
    expect(failed).toContain('is right about no window, as with concurrency, or sends nothing')
    expect(failed).toContain(EXACT)
  })

  it('finds out a reader that does not read, misreads, or takes one clock for another', () => {
    expect(failures(spoilt({ read: () => undefined }))).toContain(EXACT)
    const swapped: Dialect['read'] = (headers, nowMs) => {
      const read = xRateLimit.read(headers, nowMs)
      return (
        read && {
          policies: read.policies.map((one) => ({ ...one, limit: one.remaining, remaining: one.limit })),
        }
      )
    }
    expect(failures(spoilt({ read: swapped }))).toContain(EXACT)
    expect(failures(spoilt({ read: xRateLimitEpoch.read }))).toContain(ROUNDS_UP)
  })

  it('finds out a reader that throws, or gives what cannot be', () => {
    const throwing: Dialect['read'] = (headers, nowMs) => {
      if (Number.isNaN(Number(headers('X-RateLimit-Limit') ?? 0))) throw new SyntaxError('no number')
      return xRateLimit.read(headers, nowMs)
    }
    expect(failures(spoilt({ read: throwing }))).toContain(ANY_TEXT)
    const believing: Dialect['read'] = (headers) => {
      const figure = (name: string): number | undefined => {
        const text = headers(name)
        return text === null || text === undefined ? undefined : Number(text)
      }
      const limit = figure('X-RateLimit-Limit')
      return limit === undefined
        ? undefined
        : { policies: [{ limit, remaining: figure('X-RateLimit-Remaining') }] }
    }
    expect(failures(spoilt({ read: believing }))).toContain(ANY_TEXT)
  })
})
