import type { LogOptions, ServiceOptions } from '@sluice/service'

/** All that `sluice serve` can be set to, once flags, variables, file and defaults are one. */
export interface ServeSettings
  extends Omit<ServiceOptions, 'store' | 'log' | 'timers' | 'wallClock' | 'telemetry'> {
  /** Where counters are kept, as `--store` writes it. */
  readonly storeUrl: string
  readonly logLevel: NonNullable<LogOptions['level']>
  readonly logFormat: 'auto' | 'pretty' | 'json'
  readonly logRefusals: NonNullable<LogOptions['refusals']>
  readonly otel?: boolean
}

/** Some settings, also within the objects among them. */
export type SettingsPart<T = ServeSettings> = {
  readonly [Name in keyof T]?: T[Name] extends readonly unknown[] | undefined ? T[Name] : Inner<T[Name]>
}
type Inner<T> = T extends object ? (T extends readonly unknown[] ? T : SettingsPart<T>) : T

interface Described {
  /** What it does, for `--help` and docs/cli.md; its values and its default are added. */
  readonly help: string
  /** What stands for the value, such as `HOST:PORT`. */
  readonly value?: string
  /** The only values there are. */
  readonly choices?: readonly string[]
  /** As a flag would write it. */
  readonly default?: string
  /** Where the pages say more, from docs/. */
  readonly see?: string
  /** Can also be the content of a file, named by `NAME-file`. `hidden`: there is no flag for the value itself. */
  readonly secret?: 'shown' | 'hidden'
  /** Has no flag: it is what stands after the command's name. */
  readonly operands?: true
}

/** One setting of `sluice serve`: its kind is how its text is read, `to` is where its value belongs. */
export type ServeOption = Described &
  (
    | { readonly kind: 'text'; to(value: string): SettingsPart }
    /** Several texts: a flag that may be given again, a variable with commas, a list in a file. */
    | { readonly kind: 'list'; to(value: readonly string[]): SettingsPart }
    /** A list of files; those that a settings file names are found from its folder. */
    | { readonly kind: 'paths'; to(value: readonly string[]): SettingsPart }
    | { readonly kind: 'number'; to(value: number): SettingsPart }
    /** `true` or `false`; as a flag `--NAME` or `--no-NAME`. */
    | { readonly kind: 'flag'; to(value: boolean): SettingsPart }
    /** A duration such as `10s`, or 0, in milliseconds. */
    | { readonly kind: 'time'; to(value: number): SettingsPart }
  )

export type ServeOptionRows = Readonly<Record<string, ServeOption>>

/** The environment variable of a setting: `log-level` is SLUICE_LOG_LEVEL. */
export function variableOf(name: string): string {
  return `SLUICE_${name.replaceAll('-', '_').toUpperCase()}`
}
