import { readdirSync, readFileSync } from 'node:fs'
import { compile } from '@sluice/limiter/rules'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { loadText, RulebookError } from './index.ts'

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
