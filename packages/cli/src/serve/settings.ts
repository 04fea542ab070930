import { ConfigError } from '@sluice/limiter'
import { TICKS_PER_MS, ticksOf } from '@sluice/limiter/time'
import { unknownName } from '../arguments.ts'
import type { Values } from '../command.ts'
import type { Io } from '../io.ts'
import { readSecret } from '../secrets.ts'
import { UsageError } from '../usage-error.ts'
import { givenByEnvoyRatelimit } from './envoy-environment.ts'
import type { ServeOption, ServeOptionRows, ServeSettings, SettingsPart } from './option-row.ts'
import { type Given, type GivenText, givenByFlags, givenByVariables } from './sources.ts'

/** The settings in force, and where each came from. */
export interface ReadSettings {
  readonly settings: ServeSettings
  /** Where a setting came from, as messages name it; `undefined` for a default. */
  from(name: string): string | undefined
  /**
   * Does what the settings are for.
   * @throws what it throws; in place of a ConfigError a UsageError, which names the flag, variable or line that gave
   * the value
   */
  apply<T>(work: () => T | Promise<T>): Promise<T>
}

/**
 * Reads each setting from the first that gives it: flag, environment, settings file, default.
 * @throws UsageError naming where a wrong value came from
 */
export async function readSettings(
  rows: ServeOptionRows,
  operands: readonly string[],
  values: Values,
  io: Io,
): Promise<ReadSettings> {
  const flags = givenByFlags(values, operands, rows)
  const variables = givenByVariables(io.env, rows)
  const config = flags('config') ?? variables('config')
  const sources = [flags, variables]
  if (config !== undefined) {
    const { readConfig } = await import('./config-file.ts') // most have no file, and need not load what reads YAML
    sources.push(await readConfig(config[0]!.text, rows, io))
  }
  const readsTheirs = sources.map((source) => source('envoy-ratelimit')).find((given) => given !== undefined)
  if (readsTheirs?.[0]?.text === 'true') sources.push(givenByEnvoyRatelimit(io))
  const parts: { name: string; from: string | undefined; part: SettingsPart }[] = []
  for (const [name, row] of Object.entries(rows)) {
    const given = await firstOf(name, row, sources, io)
    const texts = given ?? (row.default === undefined ? undefined : [{ text: row.default, from: name }])
    if (texts !== undefined) parts.push({ name, from: given?.[0]?.from, part: partOf(row, texts) })
  }
  const settings = parts.map(({ part }) => part).reduce(merged, {}) as unknown as ServeSettings
  return {
    settings,
    from: (name) => parts.find((one) => one.name === name)?.from,
    async apply(work) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof ConfigError) || error.path === undefined) throw error
        const { path } = error
        const source = parts.find(({ part }) => leaves(part).some((leaf) => isAbout(path, leaf)))
        if (source === undefined) throw error
        throw new UsageError(reworded(error.message, source.from ?? `--${source.name}`))
      }
    },
  }
}

/** @throws UsageError where one source gives both a value and a file with it */
async function firstOf(
  name: string,
  { secret }: ServeOption,
  sources: readonly Given[],
  io: Io,
): Promise<readonly GivenText[] | undefined> {
  for (const source of sources) {
    const value = source(name)
    const file = secret === undefined ? undefined : source(`${name}-file`)?.[0]
    if (file === undefined) {
      if (value !== undefined) return value
    } else if (value !== undefined) {
      throw new UsageError(`${value[0]!.from} and ${file.from} are both set: remove one of them`)
    } else return [{ text: await readSecret(file.text, file.from, io), from: file.from }]
  }
  return undefined
}

/** @throws UsageError for a text that is not of the row's kind, or none of its choices */
function partOf(row: ServeOption, texts: readonly GivenText[]): SettingsPart {
  for (const { text, from } of texts) {
    if (row.choices?.includes(text) === false) throw new UsageError(unknownName(from, text, row.choices))
  }
  const { text, from } = texts[0] ?? { text: '', from: '' }
  switch (row.kind) {
    case 'text':
      return row.to(text)
    case 'list':
    case 'paths':
      return row.to(texts.map((one) => one.text))
    case 'number':
      if (!/^\d+(?:\.\d+)?$/.test(text)) throw mustBe(from, 'a number', text)
      return row.to(Number(text))
    case 'flag':
      if (text !== 'true' && text !== 'false') throw mustBe(from, 'true or false', text)
      return row.to(text === 'true')
    case 'time':
      return row.to(text === '0' ? 0 : milliseconds(text, from))
  }
}

function milliseconds(text: string, from: string): number {
  try {
    return ticksOf(text) / TICKS_PER_MS
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw mustBe(from, 'a duration such as 500ms, 10s, 5m', text)
  }
}

function mustBe(from: string, what: string, text: string): UsageError {
  return new UsageError(`${from} must be ${what}, not ${JSON.stringify(text.slice(0, 80))}`)
}

type Tree = Readonly<Record<string, unknown>>

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function merged(one: object, other: object): object {
  const sum: Record<string, unknown> = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const before = sum[name]
    sum[name] = isTree(before) && isTree(value) ? merged(before, value) : value
  }
  return sum
}

/** The paths of all values in it. */
function leaves(part: object): string[][] {
  return Object.entries(part).flatMap(([name, value]) =>
    isTree(value) ? leaves(value).map((leaf) => [name, ...leaf]) : [[name]],
  )
}

/** An error's path goes on into a list, or begins below where the value was put. */
function isAbout(path: readonly (string | number)[], leaf: readonly string[]): boolean {
  const names = path.filter((step) => typeof step === 'string')
  return names.length > 0 && names.join('/') === leaf.slice(-names.length).join('/')
}

/** `--http must be …`, where the message says `http must be …`. */
function reworded(message: string, from: string): string {
  const [, rest] = /^[\w.[\]]+((?: must be |: ).*)$/s.exec(message) ?? []
  return rest === undefined ? `${from}: ${message}` : from + rest
}
