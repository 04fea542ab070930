import type { CalendarPeriod } from '@sluice/limiter'
import type { Quota } from '@sluice/limiter/rules'
import { z } from 'zod'
import { FieldError, quoted } from '../mistake.ts'
import { parseDuration, parsePeriod, parseQuota } from './quota.ts'

/** A schema for each field of `T`. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? z.ZodExactOptional<z.ZodType<Required<T>[K]>>
    : z.ZodType<T[K]>
}

/** A map of these fields and no others. The issue of an unknown one carries the known names as its message. */
export function mapOf<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(' ')
  const fields = Object.entries(shape).map(([name, schema]) => [name, passedOver(schema)])
  return z.strictObject(Object.fromEntries(fields) as Shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined),
  })
}

/**
 * The same of a file, in which nothing is undefined. An exact optional looks at a field that is absent, and its findings
 * are thrown away: half the time of reading a rule.
 */
function passedOver(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodExactOptional ? z.optional(schema.unwrap()) : schema
}

/** Text that `parse` turns into what it means. `must` completes `"field" …` where something else stands. */
export function readWith<T>(must: string, parse: (text: string) => T): z.ZodType<T> {
  return z.string({ error: must }).transform((text, context): T => {
    try {
      return parse(text)
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      context.issues.push({ code: 'custom', message: error.message, hint: () => error.hint, input: text })
      return z.NEVER
    }
  })
}

/** One value, or a list of alternatives. */
export function oneOrMany(item: z.ZodType<string>): z.ZodType<readonly string[]> {
  return z
    .union([item, z.array(item).min(1)])
    .transform((value) => (typeof value === 'string' ? [value] : value))
}

/** A whole number from `least` to `most`, 2^53−1 where none is given. */
export function wholeField(least: number, most: number = Number.MAX_SAFE_INTEGER): z.ZodType<number> {
  return z.int().min(least).max(most)
}

/** A scalar that counts as the text it is written as, as descriptors have always been read: `404` is a value. */
export type Word = string | number | boolean
export const word: z.ZodType<Word> = z.union([z.string().min(1), z.number(), z.boolean()], {
  error: 'must be text',
})

export const text: z.ZodType<string> = z.string().min(1).max(256)
export const quota: z.ZodType<Quota> = readWith('must be COUNT/PERIOD, such as 5/minute', parseQuota)
export const period: z.ZodType<number | CalendarPeriod> = readWith(
  'must be a period, such as 10s',
  parsePeriod,
)
export const duration: z.ZodType<number> = readWith('must be a duration, such as 10m', (value) =>
  parseDuration(value),
)
export const share: z.ZodType<number> = readWith('must be a percentage, such as 80%', parseShare)

/** 0.8 of `80%`. @throws Mistake */
function parseShare(value: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)%$/.exec(value)?.[1])
  if (!(percent > 0 && percent <= 100)) {
    throw new FieldError(`${quoted(value)} is not a percentage from above 0% to 100%`)
  }
  return percent / 100
}
