import { describe, expect, it } from 'vitest'
import { workedLines } from '../../../limiter/src/core/respond/dialects.lines.ts'
import { readings } from '../../../limiter/src/core/respond/dialects.readings.ts'
import { vectors } from '../../../limiter/src/core/respond/dialects.vectors.ts'
import type { StatedLimit } from './answer-limits.ts'
import { readAnswerLimits } from './answer-reader.ts'

const NOW = 1_700_000_000_000

function headersOf(lines: string): Headers {
  return new Headers(lines.split(' · ').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]))
}

/** A reading without what is undefined, and with the names that stated limits have. */
function statedBy(dialect: string, id: string): StatedLimit[] {
  const meant = readings[dialect]!(vectors[id]!.report) ?? []
  return meant.map((policy) => {
    const { limit, remaining, unit, moreAfterMs, resetAfterMs, windowSeconds } = policy
    const windowMs = windowSeconds === undefined ? undefined : windowSeconds * 1_000
    const all = { limit, remaining, unit, moreMs: moreAfterMs, resetMs: resetAfterMs, windowMs }
    const known = Object.entries(all).filter(([, value]) => value !== undefined)
    return { name: policy.policy ?? '', ...Object.fromEntries(known) }
  })
}

describe.each(Object.keys(readings))('Acceptance 4.2: an answer in the dialect %s', (dialect) => {
  it.each(Object.entries(vectors))('says %s as it is meant: $meaning', (id, { report, retryAfter }) => {
    const lines = workedLines[dialect as keyof typeof workedLines]![id]!
    const headers = lines === '' ? new Headers() : headersOf(lines)
    if (retryAfter !== undefined) headers.set('Retry-After', retryAfter)
    const said = readAnswerLimits({ status: report.allowed ? 200 : 429, headers }, { now: NOW })
    const limits = statedBy(dialect, id)
    if (limits.length === 0 && report.allowed) expect(said).toBeUndefined()
    else expect(said).toMatchObject({ limits, refused: !report.allowed })
    if (retryAfter !== undefined) expect(said?.retryAfterMs).toBe(Number(retryAfter) * 1_000)
  })
})

it.each(Object.entries(workedLines.github!))(
  'github says %s as the epoch form does, with a name',
  (id, lines) => {
    const limits = statedBy('x-ratelimit-epoch', id)
    const said =
      lines === '' ? undefined : readAnswerLimits({ status: 200, headers: headersOf(lines) }, { now: NOW })
    if (limits.length === 0) expect(said).toBeUndefined()
    else expect(said!.limits).toEqual([{ ...limits[0], name: expect.stringMatching(/./) }])
  },
)
