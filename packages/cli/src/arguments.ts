import { parseArgs } from 'node:util'
import { nearest } from '@sluice/limiter/errors'
import type { CommandOptions, Values } from './command.ts'
import { UsageError } from './usage-error.ts'

/** What was typed after a command's name. @throws UsageError with the nearest right name */
export function parseArguments(
  argv: readonly string[],
  options: CommandOptions,
): { values: Values; operands: readonly string[] } {
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName } = token
    if (!Object.hasOwn(options, name)) throw new UsageError(unknownName('option', rawName, dashed(options)))
    if (seen.has(name) && options[name]!.multiple !== true) throw new UsageError(`${rawName} is given twice`)
    seen.add(name)
    checkValue(rawName, token.value, options[name]!.choices)
  }
  try {
    const parsed = parseArgs({ args: [...argv], options, allowPositionals: true })
    return { values: parsed.values as Values, operands: parsed.positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** `unknown option "--jsn" (did you mean "--json"?)`, or the whole list where nothing is near. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  return `unknown ${what} ${JSON.stringify(name)}${hintFor(name, known)}`
}

/** What stands behind a message about an unknown name. */
export function hintFor(name: string, known: readonly string[]): string {
  const hint = nearest(name, known)
  return hint === undefined ? `; there are ${known.join(', ')}` : ` (did you mean ${JSON.stringify(hint)}?)`
}

function checkValue(option: string, value: string | undefined, choices: readonly string[] | undefined): void {
  if (choices === undefined || value === undefined || choices.includes(value)) return
  throw new UsageError(unknownName(option, value, choices))
}

function dashed(options: CommandOptions): string[] {
  return Object.keys(options).map((name) => `--${name}`)
}
