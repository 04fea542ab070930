import type { Io } from './io.ts'

/** 0: fine; 1: the command found what it looks for, a mistake or a difference; 2: it was used wrongly, or could not run. */
export type ExitCode = 0 | 1 | 2

interface CommandOption {
  readonly type: 'string' | 'boolean'
  /** May be given more than once. */
  readonly multiple?: true
  /** One letter that may stand for the name, as in `-o`. */
  readonly short?: string
  /** What stands for the value in help, such as `FILE`. */
  readonly value?: string
  /** The only values there are. */
  readonly choices?: readonly string[]
  readonly help: string
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

export type Values<O extends CommandOptions = CommandOptions> = {
  readonly [Name in keyof O]?: O[Name] extends { readonly multiple: true }
    ? readonly string[]
    : O[Name] extends { readonly type: 'boolean' }
      ? boolean
      : string
}

interface Definition<O extends CommandOptions> {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** What stands after the name, such as `RULES…`; absent: nothing may. */
  readonly operands?: string
  readonly options: O
  /** Milliseconds for which whoever reads the output is waited for at the end. Default: as long as it takes. */
  readonly flushMs?: number
  /** What else help should tell; lines of at most 100 characters. */
  readonly notes?: string
  run(operands: readonly string[], values: Values<O>, io: Io): Promise<ExitCode>
}

export type Command = Definition<CommandOptions>

/** Lets `run` see the types that `options` declare. */
export function defineCommand<const O extends CommandOptions>(definition: Definition<O>): Command {
  return definition as unknown as Command
}
