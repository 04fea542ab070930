import { readFileSync } from 'node:fs'
import { SluiceError } from '@sluice/limiter/errors'
import type { RulebookError } from '@sluice/rulebook'
import { parseArguments, unknownName } from './arguments.ts'
import type { Command, ExitCode } from './command.ts'
import { commands } from './commands.ts'
import { COMMON_OPTIONS, helpOf, overview } from './help.ts'
import type { Io, Output } from './io.ts'
import { withoutPasswords } from './secrets.ts'
import { UsageError } from './usage-error.ts'

/**
 * Runs one command line, without `node` and the script's name. Never throws for a user's mistake.
 * @returns the exit code: 0, fine; 1, a mistake or a difference was found; 2, used wrongly, or it could not run
 * @example
 * process.exitCode = await main(['check', 'rulebook.yaml'], process)
 */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  const watched = [watch(io.stdout), watch(io.stderr)]
  const [name = '', ...rest] = argv
  let command: Command | undefined
  try {
    if (Object.hasOwn(commands, name)) command = await commands[name]!()
    const code = command === undefined ? await about(name, io) : await runCommand(command, rest, io)
    for (const written of watched) await written(command?.flushMs)
    return code
  } catch (error) {
    const code = await complain(error, command, io)
    for (const written of watched) await written(command?.flushMs).catch(() => undefined)
    return code
  }
}

async function about(name: string, io: Io): Promise<ExitCode> {
  if (name === '--version' || name === '-v') {
    io.stdout.write(`sluice ${version()}\n`)
  } else if (name === '--help' || name === '-h' || name === 'help') {
    io.stdout.write(overview(await allCommands()))
  } else if (name === '') {
    io.stderr.write(overview(await allCommands()))
    return 2
  } else {
    const [what, names] = name.startsWith('-')
      ? ['option', ['--help', '--version']]
      : (['command', Object.keys(commands)] as const)
    throw new UsageError(unknownName(what, name, names))
  }
  return 0
}

function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(commands).map((load) => load()))
}

async function runCommand(command: Command, argv: readonly string[], io: Io): Promise<ExitCode> {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) {
    io.stdout.write(helpOf(command))
    return 0
  }
  const { values, operands } = parseArguments(argv, { ...command.options, ...COMMON_OPTIONS })
  if (command.operands === undefined && operands.length > 0) {
    throw new UsageError(`${command.name} takes no ${JSON.stringify(operands[0])}`)
  }
  return command.run(operands, values, io)
}

async function complain(error: unknown, command: Command | undefined, io: Io): Promise<ExitCode> {
  if (isRulebookError(error)) {
    const { formatProblem } = await import('@sluice/rulebook')
    for (const problem of error.problems) io.stderr.write(`${formatProblem(problem)}\n`)
    return 1
  }
  io.stderr.write(`sluice: ${withoutPasswords(complaintOf(error, command))}\n`)
  return 2
}

/** By its code: the class would load the reader of rulebooks for commands that need none. */
function isRulebookError(error: unknown): error is RulebookError {
  return error instanceof SluiceError && error.code === 'ERR_SLUICE_RULEBOOK'
}

function complaintOf(error: unknown, command: Command | undefined): string {
  if (error instanceof UsageError) {
    return `${error.message}\nSee sluice ${command === undefined ? '' : `${command.name} `}--help.`
  }
  if (error instanceof SluiceError || isSystemError(error)) return error.message
  return `this is a fault of sluice itself: ${(error as Error)?.stack ?? String(error)}`
}

/** A port in use, a host unknown: what the system refused, not what we got wrong. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

/**
 * Waits until all is written, or for `flushMs`, and throws what went wrong; the reader may close the pipe early
 * (`| head`), though.
 */
function watch(output: Output): (flushMs?: number) => Promise<void> {
  let failure: NodeJS.ErrnoException | undefined
  output.on('error', (error) => {
    failure ??= error
  })
  return async (flushMs) => {
    let timer: NodeJS.Timeout | undefined
    await new Promise<unknown>((done) => {
      output.write('', done)
      if (flushMs !== undefined) timer = setTimeout(done, flushMs)
    })
    clearTimeout(timer)
    if (failure !== undefined && failure.code !== 'EPIPE') throw failure
  }
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
