import type { CalendarPeriod } from '@sluice/limiter'
import { nearest } from '@sluice/limiter/errors'
import type { DescriptorLimit, Quota } from '@sluice/limiter/rules'
import { ticksOf } from '@sluice/limiter/time'
import { z } from 'zod'
import type { LoadOptions } from '../load-options.ts'
import { quoted } from '../mistake.ts'
import { type FileSource, type Path, type Reporter, scalarAt } from '../syntax/source.ts'
import { type FieldsOf, mapOf, period, type Word, wholeField, word } from './fields.ts'
import { type OptionsText, optionFields, optionsOf } from './options.ts'
import { collect, quotaReader } from './quota-reader.ts'

/** A descriptor's limit as files write it. */
export interface RateLimitText extends OptionsText {
  readonly unit?: Word
  readonly requests_per_unit?: number
  readonly unit_multiplier?: number
  readonly period?: number | CalendarPeriod
  readonly unlimited?: boolean
  readonly name?: Word
  readonly replaces?: readonly { readonly name: Word }[]
}

/** Milliseconds of each unit: a month is 30 days, a year 365. */
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
  ['week', 604_800_000],
  ['month', 2_592_000_000],
  ['year', 31_536_000_000],
])

/** All that may stand beside `unlimited`. */
const BESIDE_UNLIMITED = ['unlimited', 'requests_per_unit', 'name', 'replaces']

const rateLimitFields: FieldsOf<RateLimitText> = {
  unit: word
    .describe(
      `${[...UNIT_MS.keys()].join(', ')}, in any case; a month is 30 days (or a calendar month, by a setting), a year 365.`,
    )
    .exactOptional(),
  requests_per_unit: wholeField(0)
    .describe('Requests per unit; default 0, which refuses all.')
    .exactOptional(),
  unit_multiplier: wholeField(1).describe('How many units the period has. Default 1.').exactOptional(),
  period: period.describe('In place of unit: 10s, 3h, calendar-month@Europe/Paris.').exactOptional(),
  unlimited: z.boolean().describe('Matches, and never counts.').exactOptional(),
  name: word.describe('What other limits may replace, and answers repeat.').exactOptional(),
  replaces: z
    .array(mapOf({ name: word.describe('Its name.') }))
    .describe('Limits that this one replaces, when both match in one request.')
    .exactOptional(),
  ...optionFields,
}

export const rateLimitSchema: z.ZodType<RateLimitText> = mapOf(rateLimitFields)

/** The model of a limit that its schema accepted. Reports whatever else is wrong with it; `path` is its own. */
export function rateLimitOf(
  written: RateLimitText,
  source: FileSource,
  path: Path,
  report: Reporter,
  load: LoadOptions,
): DescriptorLimit {
  const options = optionsOf(written, 'fixed-window')
  const { unlimited = false, requests_per_unit: limit = 0, anchor } = written
  const name = scalarAt(source, [...path, 'name'])
  const unit = scalarAt(source, [...path, 'unit']).toLowerCase()
  if (written.name !== undefined && !/^[ -~]{1,256}$/.test(name)) {
    report([...path, 'name'], `${quoted(name)} is not a name: 1 to 256 printable ASCII characters`)
  }
  const model = {
    ...options,
    unlimited,
    ...(name !== '' && { name }),
    replaces: (written.replaces ?? []).map((_, index) =>
      scalarAt(source, [...path, 'replaces', index, 'name']),
    ),
  }
  if (unlimited) {
    for (const field of Object.keys(written).filter((beside) => !BESIDE_UNLIMITED.includes(beside))) {
      report([...path, field], `${JSON.stringify(field)} has no effect beside unlimited`, { part: 'key' })
    }
    return model
  }
  const finish = quotaReader({ options, anchor, source, base: path }, report)
  const period = periodOf(written, unit, path, report, load)
  if (period === undefined) return model
  return {
    ...model,
    quota: finish({ limit, period }, [...path, 'requests_per_unit']),
    ...(unit !== '' && { unit }),
  }
}

function periodOf(
  written: RateLimitText,
  unit: string,
  path: Path,
  report: Reporter,
  { calendarMonths }: LoadOptions,
): Quota['period'] | undefined {
  const { period, unit_multiplier = 1 } = written
  const length = UNIT_MS.get(unit)
  if (period !== undefined) {
    for (const field of ['unit', 'unit_multiplier'].filter((beside) => Object.hasOwn(written, beside))) {
      report([...path, field], `${JSON.stringify(field)} has no effect beside period`, { part: 'key' })
    }
    return period
  }
  if (unit === 'month' && calendarMonths) {
    if (unit_multiplier === 1) return { calendar: 'month' }
    report([...path, 'unit_multiplier'], 'months of the calendar cannot be multiplied')
  } else if (unit === '') report([...path, 'unit'], '"unit" is missing')
  else if (length === undefined) {
    const units = [...UNIT_MS.keys()]
    report([...path, 'unit'], `${quoted(unit)} is not a unit; units are ${units.join(', ')}`, {
      hint: nearest(unit, units),
    })
  } else if (
    collect(() => ticksOf(length * unit_multiplier), [...path, 'unit_multiplier'], report) !== undefined
  ) {
    return length * unit_multiplier
  }
  return undefined
}
