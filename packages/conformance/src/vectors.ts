import { ConfigError, type Policy } from '@sluice/limiter'
import { type Plan, planOf, wholeNumber } from '@sluice/limiter/algorithms'

/** A file of worked decisions: what was asked, when, and every figure of the answer. */
export interface Vectors {
  readonly scenarios: readonly Scenario[]
}

/** Steps that follow one another, from nothing. */
export interface Scenario {
  /** Its name, or its place in the file. */
  readonly name: string
  readonly plans: readonly Plan[]
  /** Several policies decided as one; the expectations are then those of the whole. */
  readonly combined: boolean
  readonly steps: readonly VectorStep[]
}

export interface VectorStep {
  /** Microseconds since the Unix epoch; may lie before the step before it. */
  readonly at: number
  readonly key: string
  readonly cost: number
  readonly expect: Expectation
}

/** Figures by name, those that the file states. Durations in microseconds; `null` means never, or already full. */
export type Expectation = Readonly<Record<string, boolean | number | null>>

const FORMAT = 'sluice-vectors/1'
const SINGLE_FIGURES = [
  'allowed',
  'limit',
  'remaining',
  'retry_after_us',
  'more_after_us',
  'reset_after_us',
  'delay_us',
]
const COMBINED_FIGURES = ['allowed', 'binding', 'retry_after_us', 'remaining']
const NULLABLE_FIGURES = ['retry_after_us', 'more_after_us', 'reset_after_us']

/**
 * Reads a `sluice-vectors/1` file.
 * @throws ConfigError that names the place, such as `scenarios[3].steps[2].cost`
 * @example
 * const { scenarios } = parseVectors(await readFile('vectors/gcra.json', 'utf8'))
 */
export function parseVectors(text: string): Vectors {
  const file = objectAt(parseJson(text), 'the file', ['format', 'scenarios'])
  if (file.format !== FORMAT)
    throw new ConfigError(`format must be ${FORMAT}, not ${JSON.stringify(file.format)}`)
  return {
    scenarios: arrayAt(file.scenarios, 'scenarios').map((each, i) => scenarioAt(each, `scenarios[${i}]`)),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`not JSON: ${(cause as Error).message}`, { cause })
  }
}

function scenarioAt(value: unknown, path: string): Scenario {
  const { name, policy, policies, steps } = objectAt(value, path, ['name', 'policy', 'policies', 'steps'])
  const combined = policies !== undefined
  if (combined === (policy !== undefined))
    throw new ConfigError(`${path} must have a policy or policies, and not both`)
  const written = combined ? arrayAt(policies, `${path}.policies`) : [policy]
  const figures = combined ? COMBINED_FIGURES : SINGLE_FIGURES
  return {
    name: name === undefined ? path : stringAt(name, `${path}.name`),
    plans: written.map((each, i) => planAt(each, combined ? `${path}.policies[${i}]` : `${path}.policy`)),
    combined,
    steps: arrayAt(steps, `${path}.steps`).map((each, i) => stepAt(each, `${path}.steps[${i}]`, figures)),
  }
}

function planAt(value: unknown, path: string): Plan {
  const { algorithm, period_us, ...rest } = objectAt(value, path, [
    'algorithm',
    'limit',
    'period_us',
    'burst',
    'rounding',
  ])
  const period = `${wholeNumber(`${path}.period_us`, period_us, 1)}us`
  const name = stringAt(algorithm, `${path}.algorithm`)
  const policy =
    name === 'token-bucket-interval'
      ? { ...rest, period, algorithm: 'token-bucket', refill: 'interval' }
      : { ...rest, period, algorithm: name }
  try {
    return planOf(policy as Policy)
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError(`${path}: ${cause.message}`, { cause })
  }
}

function stepAt(value: unknown, path: string, figures: readonly string[]): VectorStep {
  const { at_us, key, cost, expect } = objectAt(value, path, ['at_us', 'key', 'cost', 'expect'])
  const expected = objectAt(expect, `${path}.expect`, figures)
  for (const [figure, is] of Object.entries(expected)) {
    if (figure === 'allowed' ? typeof is === 'boolean' : is === null && NULLABLE_FIGURES.includes(figure))
      continue
    if (figure === 'allowed') throw new ConfigError(`${path}.expect.allowed must be true or false`)
    wholeNumber(`${path}.expect.${figure}`, is, 0)
  }
  return {
    at: wholeNumber(`${path}.at_us`, at_us, 0),
    key: stringAt(key, `${path}.key`),
    cost: wholeNumber(`${path}.cost`, cost, 0),
    expect: expected as Expectation,
  }
}

function objectAt(value: unknown, path: string, fields: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${path} must be an object`)
  }
  const stray = Object.keys(value).find((field) => !fields.includes(field))
  if (stray !== undefined) {
    throw new ConfigError(`${path} has no field ${JSON.stringify(stray)}; it has ${fields.join(', ')}`)
  }
  return value as Record<string, unknown>
}

function arrayAt(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new ConfigError(`${path} must be a list, and not empty`)
  return value
}

function stringAt(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new ConfigError(`${path} must be text`)
  return value
}
