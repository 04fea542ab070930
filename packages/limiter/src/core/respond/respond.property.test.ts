import * as fc from 'fast-check'
import {
  type Item,
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeList,
} from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { binding } from '../decide/combine.ts'
import type { Decision, PolicyFigures } from '../decide/decision.ts'
import type { DialectName } from './dialect-writers.ts'
import { dialects } from './dialects.ts'
import { respondTo } from './respond.ts'

const name = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1 }),
  fc.string({ unit: 'binary' }),
  fc.constant('"\\'),
)
const ms = fc.oneof(
  fc.nat(100_000),
  fc.double({ min: 0.001, max: 1e16, noNaN: true }),
  fc.constant(Number.MAX_VALUE),
)
const count = fc.oneof(
  fc.nat(100),
  fc.integer({ min: -50, max: 50 }),
  fc.double({ min: -1e20, max: 1e20, noNaN: true }),
)

/** Figures of any size that keep the one law relied on: more is available no later than the whole cost. */
const figures: fc.Arbitrary<PolicyFigures> = fc
  .record({
    policy: name,
    allowed: fc.boolean(),
    limit: count,
    remaining: count,
    moreAfterMs: fc.option(ms),
    longerMs: fc.option(ms),
    resetAfterMs: fc.option(ms),
    windowSeconds: fc.option(fc.oneof(fc.nat(86_400), fc.double({ min: 0, max: 1e20 }))),
    shadow: fc.boolean(),
  })
  .map(({ longerMs, windowSeconds, shadow, ...rest }) => ({
    ...rest,
    delayMs: 0,
    retryAfterMs: rest.allowed ? 0 : longerMs === null ? null : (rest.moreAfterMs ?? 0) + longerMs,
    ...(windowSeconds === null ? undefined : { windowSeconds }),
    ...(shadow ? { shadow: true as const } : undefined),
  }))

const decision: fc.Arbitrary<Decision> = fc
  .record({ policies: fc.array(figures, { minLength: 1, maxLength: 5 }), degraded: fc.boolean() })
  .map(({ policies, degraded }) => {
    const allowed = policies.every((policy) => policy.allowed || policy.shadow)
    const bound =
      policies[
        Math.max(
          0,
          binding(policies, allowed, (i) => !policies[i]!.shadow),
        )
      ]!
    return { ...bound, allowed, policies, degraded }
  })

const options = fc.record({
  nowMs: fc.nat(4_000_000_000_000),
  retryAfter: fc.constantFrom('seconds' as const, 'date' as const),
  policies: fc.constantFrom('all' as const, 'binding' as const),
  cost: fc.nat(),
  jitter: fc.record({
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    key: fc.string(),
    seed: fc.integer(),
  }),
})

/** Reads a field as a List and writes it again: the same bytes, and every number a whole one that is not negative. */
function readList(text: string): Item[] {
  const list = parseList(text) as Item[]
  expect(serializeList(list)).toBe(text)
  for (const [, parameters] of list) {
    for (const value of parameters.values()) {
      if (typeof value === 'number') expect(Number.isSafeInteger(value) && value >= 0).toBe(true)
    }
  }
  return list
}

function everyField(
  check: (field: (name: string) => string | undefined, made: Decision) => void,
  dialect: DialectName,
) {
  fc.assert(
    fc.property(decision, options, (made, given) => {
      const headers = new Map(respondTo(made, { ...given, dialect }).headers)
      for (const value of headers.values()) expect(value).toMatch(/^[\x20-\x7e]*$/)
      check((name) => headers.get(name), made)
    }),
    { numRuns: 400 },
  )
}

describe('a parser of structured fields reads', () => {
  it.each([
    ['ietf', 'r', 't'],
    ['ietf-next', 'a', 'w'],
  ] as const)('all that %s sends', (dialect, remaining, time) => {
    everyField((field) => {
      const [policies, limits] = [field('RateLimit-Policy'), field('RateLimit')]
      expect(policies === undefined).toBe(limits === undefined)
      if (policies === undefined || limits === undefined) return
      const quotas = readList(policies)
      const items = readList(limits)
      expect(items.map(([name]) => name)).toEqual(quotas.map(([name]) => name))
      for (const [, parameters] of quotas) {
        expect(parameters.has('q')).toBe(true)
        expect(parameters.get('w')).not.toBe(0)
      }
      for (const [, parameters] of items) {
        expect(parameters.has(remaining)).toBe(true)
        expect([...parameters.keys()].filter((key) => ![remaining, time, 'c'].includes(key))).toEqual([])
      }
    }, dialect)
  })

  it('all that draft-03 and draft-06 send', () => {
    for (const dialect of ['draft-03', 'draft-06'] as const) {
      everyField((field) => {
        const limit = field('RateLimit-Limit')
        if (limit === undefined) return
        const [quota, ...windows] = dialect === 'draft-03' ? readList(limit) : [parseItem(limit)]
        const named = dialect === 'draft-03' ? windows : readList(field('RateLimit-Policy') ?? '')
        for (const value of [
          quota![0],
          parseItem(field('RateLimit-Remaining')!)[0],
          parseItem(field('RateLimit-Reset')!)[0],
        ]) {
          expect(Number.isSafeInteger(value) && Number(value) >= 0).toBe(true)
        }
        expect(new Set(named.map(([q]) => q)).size).toBe(named.length)
      }, dialect)
    }
  })

  it('all that draft-07 sends', () => {
    everyField((field) => {
      const text = field('RateLimit')
      if (text === undefined) return
      const fields = parseDictionary(text)
      expect(serializeDictionary(fields)).toBe(text)
      expect([...fields.keys()]).toEqual(['limit', 'remaining', 'reset'])
      readList(field('RateLimit-Policy') ?? '')
    }, 'draft-07')
  })
})

describe('whatever the decision', () => {
  it.each(Object.keys(dialects) as DialectName[])(
    '%s comes with a Retry-After that is whole, and at least 1',
    (dialect) => {
      everyField((field, made) => {
        const retry = field('Retry-After')
        expect(retry === undefined).toBe(made.allowed || made.retryAfterMs === null)
        if (retry !== undefined && !retry.endsWith('GMT')) expect(retry).toMatch(/^[1-9]\d{0,14}$/)
      }, dialect)
    },
  )

  it('no policy that refuses invites its client back before Retry-After', () => {
    fc.assert(
      fc.property(decision, options, (made, given) => {
        const headers = new Map(respondTo(made, { ...given, retryAfter: 'seconds' }).headers)
        const retry = headers.get('Retry-After')
        if (retry === undefined || !headers.has('RateLimit')) return
        const refusing = given.policies === 'binding' ? [true] : shown(made).map((policy) => !policy.allowed)
        const times = readList(headers.get('RateLimit')!).map(([, parameters]) =>
          Number(parameters.get('t') ?? 0),
        )
        times.forEach((t, i) => {
          if (refusing[i]) expect(t).toBeLessThanOrEqual(Number(retry))
        })
      }),
      { numRuns: 1_000 },
    )
  })
})

function shown(made: Decision): PolicyFigures[] {
  return made.policies.filter((policy) => !policy.shadow)
}
