import { ConfigError, type FieldPath } from './errors.ts'
import { nearest } from './nearest.ts'
import { ticksOf } from './time.ts'

/**
 * Looks at one value of an options object. Gives what the value may be, in words, where it is none of it; `undefined`
 * where it is right. What looks into objects and lists throws the ConfigError of what it finds there.
 * @param path where the value stands; it changes while objects are looked through
 */
export type OptionCheck = (value: unknown, path: (string | number)[]) => readonly string[] | undefined

/** A check for every field of `T`: an options type with a field that is not described here does not compile. */
export type OptionFields<T> = { readonly [Name in keyof T]-?: OptionCheck }

/** What else may be said of an options object. */
export interface ObjectHints {
  /** What to give where nothing, or no object at all, is given. Default `an object`. */
  readonly what?: string
  /** For names that other libraries have: the name here, or (with a blank in it) what to do instead. */
  readonly instead?: Readonly<Record<string, string>>
}

/** Longest text that a message repeats, in characters; and most names that it lists. */
const SHOWN = 80
const LISTED = 12
const MAX = Number.MAX_SAFE_INTEGER

/**
 * Checks options, at every depth: names, types, ranges.
 * @param path what stands before the names in messages
 * @throws ConfigError with the path of the first mistake, and the nearest right name
 * @example
 * const OPTIONS = objectOf<{ size?: number }>({ size: wholeFrom(1) })
 * checkOptions({ sise: 3 }, OPTIONS) // throws ConfigError: no option is named "sise"; did you mean size?
 */
export function checkOptions(options: unknown, check: OptionCheck, ...path: FieldPath): void {
  checkAt(options, check, [...path])
}

function checkAt(value: unknown, check: OptionCheck, path: (string | number)[]): void {
  const expected = check(value, path)
  if (expected === undefined) return
  const last = expected.at(-1)!
  const words = expected.length === 1 ? last : `${expected.slice(0, -1).join(', ')} or ${last}`
  const name = pathText(path) || 'options'
  const meant = typeof value === 'string' ? nearest(value, expected) : undefined
  throw new ConfigError(
    value === undefined
      ? `${name} must be given: ${words}`
      : `${name} must be ${words}, not ${shown(value)}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    { path: [...path] },
  )
}

/**
 * An object with these fields, of which `needed` must be there.
 * @example
 * const PERSON = objectOf<{ name: string; age?: number }>({ name: textCheck, age: wholeFrom(0) }, ['name'])
 */
export function objectOf<T extends object>(
  fields: OptionFields<T>,
  needed: readonly (keyof T & string)[] = [],
  { what = 'an object', instead = {} }: ObjectHints = {},
): OptionCheck {
  const known = Object.keys(fields) as (keyof T & string)[]
  return (value, path) => {
    if (!isPlain(value)) return [what]
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) {
        const message = unknownName([...path, name], known, instead)
        throw new ConfigError(message, { path: [...path, name] })
      }
    }
    for (const name of known) {
      const own = value[name]
      if (own === undefined && !needed.includes(name)) continue
      path.push(name)
      checkAt(own, fields[name], path)
      path.pop()
    }
    return undefined
  }
}

/** What may be given with a call: names, and the type that `typeof` gives for each; `''` for what is checked elsewhere. */
export type CallFields = ReadonlyMap<string, string>

/**
 * Checks what is given with each call, where time counts: names and plain types. A ConfigError is for what is made once.
 * @param path where it stands in what the call is given
 * @param needed names that must be there
 * @throws TypeError with the path, and the nearest right name
 * @example
 * checkCall({ weight: 3 }, new Map([['cost', 'number']])) // throws TypeError: no option is named "weight"; there is cost
 */
export function checkCall(
  options: object,
  fields: CallFields,
  path: FieldPath = TOP,
  needed: readonly string[] = NONE,
): void {
  if (typeof options !== 'object' || options === null) throw notCallOptions(options, fields, path)
  const given = options as Readonly<Record<string, unknown>>
  let names = 0
  for (const name in given) {
    const type = fields.get(name)
    if (type === undefined) throw new TypeError(unknownName([...path, name], [...fields.keys()]))
    const value = given[name]
    if (type !== '' && value !== undefined && (typeof value !== type || value === null))
      throw new TypeError(`${pathText([...path, name])} must be ${NAMED[type] ?? type}, not ${shown(value)}`)
    names++
  }
  if (names === 0 && !isPlain(options)) throw notCallOptions(options, fields, path)
  for (const name of needed) {
    if ((given[name] ?? undefined) === undefined)
      throw new TypeError(`${pathText([...path, name])} must be given`)
  }
}

const TOP: FieldPath = []
const NONE: readonly string[] = []
const NAMED: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'an object',
  number: 'a number',
  boolean: 'true or false',
}

function notCallOptions(given: unknown, fields: CallFields, path: FieldPath): TypeError {
  const names = [...fields.keys()].join(', ')
  return new TypeError(`${pathText(path) || 'options'} must be an object with ${names}, not ${shown(given)}`)
}

/** The error for a name that nothing has: with the name that was meant, or all that there are where they are few. */
function unknownName(
  path: FieldPath,
  known: readonly string[],
  instead: Readonly<Record<string, string>> = {},
): string {
  const name = String(path.at(-1))
  const other = Object.hasOwn(instead, name) ? instead[name]! : nearest(name, known)
  const few = known.length <= LISTED ? `; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}` : ''
  const hint = other === undefined ? few : other.includes(' ') ? `: ${other}` : `; did you mean ${other}?`
  return `no option is named ${JSON.stringify(pathText(path))}${hint}`
}

/**
 * Any of these.
 * @example
 * const LIMIT = anyOf(wholeFrom(0), func)
 */
export function anyOf(...checks: readonly OptionCheck[]): OptionCheck {
  return (value, path) => {
    const expected: string[] = []
    for (const check of checks) {
      const own = check(value, path)
      if (own === undefined) return undefined
      expected.push(...own)
    }
    return expected
  }
}

/**
 * A list of what passes this check.
 * @example
 * const NAMES = listOf(textCheck)
 */
export function listOf(items: OptionCheck, what = 'a list'): OptionCheck {
  return (value, path) => {
    if (!Array.isArray(value)) return [what]
    value.forEach((item, i) => {
      path.push(i)
      checkAt(item, items, path)
      path.pop()
    })
    return undefined
  }
}

/**
 * An object whose names are the user's.
 * @example
 * const SIZES = recordOf(wholeFrom(1), 'an object of sizes by name')
 */
export function recordOf(values: OptionCheck, what = 'an object'): OptionCheck {
  return (value, path) => {
    if (!isPlain(value)) return [what]
    for (const name of Object.keys(value)) {
      path.push(name)
      checkAt(value[name], values, path)
      path.pop()
    }
    return undefined
  }
}

/**
 * A value for which `holds` is true.
 * @param what it must be, in words
 * @example
 * const EVEN = that('an even number', (value) => Number(value) % 2 === 0)
 */
export function that(what: string, holds: (value: unknown) => boolean): OptionCheck {
  const expected = [what]
  return (value) => (holds(value) ? undefined : expected)
}

/**
 * One of these words.
 * @example
 * const MODE = oneOf('enforce', 'shadow')
 */
export function oneOf(...words: readonly string[]): OptionCheck {
  return (value) => (words.includes(value as string) ? undefined : words)
}

/**
 * A whole number from `least` to `most`.
 * @example
 * const PORT = wholeFrom(0, 65_535)
 */
export function wholeFrom(least: number, most: number = MAX): OptionCheck {
  return that(
    `a whole number from ${least} to ${most === MAX ? '2^53−1' : most}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  )
}

/**
 * A number above 0, up to `most`.
 * @example
 * const SHARE = above0(1)
 */
export function above0(most: number): OptionCheck {
  return that(
    most === Number.POSITIVE_INFINITY ? 'a number above 0' : `a number above 0, up to ${most}`,
    (value) => typeof value === 'number' && value > 0 && value <= most,
  )
}

/**
 * An object with these functions: what a user brings along, such as a clock.
 * @example
 * const CLOCK = having('a clock', 'now')
 */
export function having(what: string, ...functions: readonly string[]): OptionCheck {
  return that(
    `${what}: an object with ${functions.join(', ')}`,
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      functions.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  )
}

export const textCheck: OptionCheck = /* @__PURE__ */ that('text', (value) => typeof value === 'string')
export const flag: OptionCheck = /* @__PURE__ */ that('true or false', (value) => typeof value === 'boolean')
export const func: OptionCheck = /* @__PURE__ */ that('a function', (value) => typeof value === 'function')
/** A number from 0 to 1. */
export const shareCheck: OptionCheck = /* @__PURE__ */ that(
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
)
/** Milliseconds, or text such as `10s`: see {@link ticksOf}. */
export const durationCheck: OptionCheck = (value, path) => {
  if (typeof value !== 'number' && typeof value !== 'string') return DURATION
  under([...path], () => ticksOf(value))
  return undefined
}
const DURATION = ['a duration: milliseconds above 0, or text like 500ms, 10s, 5m, 3h, 1d, 2w']
export const anything: OptionCheck = () => undefined

/**
 * Runs `make`; the path of a ConfigError in it, and its message, begin with `path`.
 * @example
 * const plan = under(['policies', name], () => planOf(policy))
 */
export function under<T>(path: FieldPath, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof ConfigError) || path.length === 0) throw error
    const own = error.path ?? []
    const whole = [...path, ...own]
    const start = pathText(own)
    const message =
      start !== '' && error.message.startsWith(`${start} `)
        ? `${pathText(whole)}${error.message.slice(start.length)}`
        : `${pathText(path)}: ${error.message}`
    throw new ConfigError(message, { cause: error, path: whole })
  }
}

/** `policies.p.limit`, `overrides["10.0.0.0/8"]`, `rules[0]`. */
function pathText(path: FieldPath): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`
      return /^[a-z_$][\w$]*$/i.test(step) ? `.${step}` : `[${JSON.stringify(step.slice(0, SHOWN))}]`
    })
    .join('')
    .replace(/^\./, '')
}

/** An object of names and values: no list, no Map, no Promise. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object') return false
  const kind = Object.prototype.toString.call(value)
  return kind === '[object Object]' || kind === '[object Module]'
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN))
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
