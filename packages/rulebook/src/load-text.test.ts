import { readdirSync, readFileSync } from 'node:fs'
import { compile, matchDescriptors } from '@sluice/limiter/rules'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LoadOptions, loadText, RulebookError } from './index.ts'

const folder = new URL('../fixtures/valid/', import.meta.url)
const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))
const runs = Number(process.env.SLUICE_RUNS ?? 300)

/** Text with some of its pieces put elsewhere, doubled, or replaced by characters that YAML gives a meaning. */
const mangled = fc
  .tuple(
    fc.constantFrom(...texts),
    fc.array(
      fc.tuple(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(12),
        fc.nat(500),
        fc.string({ maxLength: 3 }),
      ),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  )
  .map(([text, cuts]) =>
    cuts.reduce((kept, [where, length, from, inserted]) => {
      const at = Math.floor(where * kept.length)
      return kept.slice(0, at) + (inserted || kept.slice(from, from + length)) + kept.slice(at + length)
    }, text),
  )

it('whatever the text, it is refused with places in it, or the limiter takes its rules', () => {
  fc.assert(
    fc.property(mangled, (text) => {
      try {
        compile(loadText(text))
      } catch (error) {
        expect(error).toBeInstanceOf(RulebookError)
        const lines = text.split('\n').length
        for (const { line, column } of (error as RulebookError).problems) {
          expect(line >= 1 && line <= lines && column >= 1).toBe(true)
        }
      }
    }),
    { numRuns: runs },
  )
})

it.each([
  ['domain: shop\n', 'no limits and no descriptors follow'],
  ['domain: shop\ndescriptors:\n', 'no limits and no descriptors follow'],
  ['domain: shop\ndescriptors: []\n', 'no limits and no descriptors follow'],
  ['domain: shop\nlimits: []\n', '"limits" must not be empty'],
  ['domain: shop\nlimits:\n', '"limits" is empty'],
])('OF-23: %j may have been cut short, and is refused', (text, message) => {
  expect(() => loadText(text)).toThrow(message)
})

it('OF-45: a name is looked for behind the first hundred mistakes only', () => {
  const limits = Array.from(
    { length: 150 },
    (_, i) => `{ name: n${i}, key: [], limit: 1/calendar-day@Europe/Pari }`,
  )
  try {
    loadText(`domain: d\nlimits: [${limits.join(', ')}]`)
    expect.unreachable()
  } catch (error) {
    const { problems, message } = error as RulebookError
    expect(problems.map(({ hint }) => hint !== undefined)).toEqual(problems.map((_, i) => i < 100))
    expect(message).toMatch(/\nand 130 more$/)
  }
})

it('OF-45: a file has a bounded number of words and line ends', () => {
  expect(() => loadText(`domain: d\nlimits:${'\n'.repeat(3_000_000)}`)).toThrow('more than 2000000 words')
})

describe('OF-67 unit: month', () => {
  const text = (more = ''): string =>
    `domain: d\ndescriptors: [{ key: k, rate_limit: { unit: month, requests_per_unit: 5${more} } }]\n`
  const quotaOf = (options?: LoadOptions): unknown =>
    loadText(text(), 'f', options)[0]?.descriptors[0]?.rateLimit?.quota?.period

  it('is 30 days, or a month of the calendar by a setting', () => {
    expect(quotaOf()).toBe(2_592_000_000)
    expect(quotaOf({ calendarMonths: true })).toEqual({ calendar: 'month' })
    for (const calendarMonths of [false, true]) {
      const rules = compile(loadText(text(), 'f', { calendarMonths }), { calendarMonths })
      const limit = { requestsPerUnit: 3, unit: 'MONTH' }
      const entries = [{ key: 'k', value: 'v' }]
      for (const query of [{ entries }, { entries, limit }]) {
        const [step] = matchDescriptors(rules, 'd', [query]).steps
        expect(step?.rule.plan.kind.includes('month')).toBe(calendarMonths)
      }
    }
  })

  it('of the calendar takes no multiplier, and no other algorithm', () => {
    for (const more of [', unit_multiplier: 2', ', algorithm: gcra'])
      expect(() => loadText(text(more), 'f', { calendarMonths: true })).toThrow(/calendar/)
  })
})
