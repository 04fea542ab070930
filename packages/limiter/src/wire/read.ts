import { WIRE_BOUNDS, type WireBounds } from './bounds.ts'
import { type Mistake, missing, mistakeError, unknownField, wrong } from './mistake.ts'

/**
 * Says what is wrong with a value of JSON, or `undefined` when it is a `T`. Checks are made once, when a module is
 * loaded, and run for every request: they make nothing unless there is a mistake.
 */
export interface Check<T> {
  (value: unknown, bounds: WireBounds): Mistake | undefined
  /** Never there: it tells the compiler which values pass. */
  readonly passes?: T
}

/** A check for each of the fields `K` of `T`. */
export type Checks<T, K extends keyof T = keyof T> = {
  readonly [N in K]-?: Check<Exclude<T[N], undefined>>
}

type Optional<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T]
type Required<T> = Exclude<keyof T, Optional<T>>

/**
 * The value itself, once it has passed.
 * @param whole what messages call it
 * @throws WireError
 */
export function read<T>(check: Check<T>, value: unknown, bounds: WireBounds, whole: string): T {
  const mistake = check(value, bounds)
  if (mistake !== undefined) throw mistakeError(mistake, whole)
  return value as T
}

/** The same for what has no bounds. @throws WireError */
export function readUnbounded<T>(check: Check<T>, value: unknown, whole: string): T {
  return read(check, value, WIRE_BOUNDS, whole)
}

/** An object with these fields and no others. */
export function fields<T extends object>(
  required: Checks<T, Required<T>>,
  optional: Checks<T, Optional<T>>,
): Check<T> {
  return objectOf(required, optional, true)
}

/** An object with these fields, and with any others: those of a later version. */
export function openFields<T extends object>(
  required: Checks<T, Required<T>>,
  optional: Checks<T, Optional<T>>,
): Check<T> {
  return objectOf(required, optional, false)
}

interface FieldCheck {
  readonly check: Check<unknown>
  readonly required: boolean
}

/**
 * `for … in` is faster than `Object.keys`. It also finds names that somebody has added to `Object.prototype`: those
 * are never unknown fields.
 */
function objectOf<T extends object>(required: object, optional: object, closed: boolean): Check<T> {
  const known = new Map<string, FieldCheck>()
  for (const [name, check] of Object.entries(required)) known.set(name, { check, required: true })
  for (const [name, check] of Object.entries(optional)) known.set(name, { check, required: false })
  const names = [...known.keys()]
  const needed = Object.keys(required)
  return (value, bounds) => {
    if (!isObject(value)) return wrong('an object')
    let found = 0
    for (const name in value) {
      const field = known.get(name)
      if (field === undefined) {
        if (closed && Object.hasOwn(value, name)) return unknownField(name, names)
        continue
      }
      const mistake = field.check(value[name], bounds)
      if (mistake !== undefined) return within(mistake, name)
      if (field.required) found++
    }
    if (found === needed.length) return undefined
    const own = Object.keys(value)
    return missing(needed.find((name) => !own.includes(name))!)
  }
}

/** An object with names that the caller chooses. @param most the bound on how many; default none */
export function map<T>(values: Check<T>, most?: keyof WireBounds): Check<Readonly<Record<string, T>>> {
  return (value, bounds) => {
    const limit = most === undefined ? Number.POSITIVE_INFINITY : bounds[most]
    if (!isObject(value)) return wrong(mapMessage(limit))
    let count = 0
    for (const name in value) {
      if (++count > limit) return wrong(mapMessage(limit))
      if (most !== undefined && !isTextOf(name, bounds.maxTextLength)) return longName(bounds)
      const mistake = values(value[name], bounds)
      if (mistake !== undefined) return within(mistake, name)
    }
    return undefined
  }
}

function mapMessage(limit: number): string {
  return limit === Number.POSITIVE_INFINITY ? 'an object' : `an object of at most ${limit} fields`
}

function longName({ maxTextLength }: WireBounds): Mistake {
  return { steps: [], message: (place) => `${place} must have names of at most ${maxTextLength} characters` }
}

/** @param most the bound on how many; default none */
export function list<T>(items: Check<T>, most?: keyof WireBounds, least = 0): Check<readonly T[]> {
  return (value, bounds) => {
    const limit = most === undefined ? Number.POSITIVE_INFINITY : bounds[most]
    if (!Array.isArray(value) || value.length < least || value.length > limit) {
      return wrong(most === undefined ? 'a list' : `a list of ${least} to ${limit}`)
    }
    for (let i = 0; i < value.length; i++) {
      const mistake = items(value[i], bounds)
      if (mistake !== undefined) return within(mistake, i)
    }
    return undefined
  }
}

/** A value that also keeps a rule which no single field of it can show. */
export function where<T>(check: Check<T>, rule: (value: T) => Mistake | undefined): Check<T> {
  return (value, bounds) => check(value, bounds) ?? rule(value as T)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** At most so many characters; one outside the 16 bits of a JavaScript character counts once. */
export function isTextOf(value: unknown, most: number): value is string {
  if (typeof value !== 'string') return false
  if (value.length <= most) return true
  if (value.length > 2 * most) return false
  let characters = 0
  for (const _ of value) characters++
  return characters <= most
}

function within(mistake: Mistake, step: string | number): Mistake {
  mistake.steps.push(step)
  return mistake
}
