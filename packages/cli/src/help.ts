import type { Command, CommandOptions } from './command.ts'

/** The options that every command has. */
export const COMMON_OPTIONS: CommandOptions = { help: { type: 'boolean', help: 'show this text' } }

export function helpOf({ name, summary, operands, options, notes }: Command): string {
  const rows = Object.entries({ ...options, ...COMMON_OPTIONS }).map(
    ([option, { short, value, help }]) =>
      [
        `${short === undefined ? '' : `-${short}, `}--${option}${value === undefined ? '' : ` ${value}`}`,
        help,
      ] as const,
  )
  return [
    `Usage: sluice ${name}${operands === undefined ? '' : ` ${operands}`} [OPTIONS]`,
    `\n${capital(summary)}.`,
    `\nOptions:\n${columns(rows)}`,
    ...(notes === undefined ? [] : [`\n${notes}`]),
    '',
  ].join('\n')
}

export function overview(commands: readonly Command[]): string {
  return [
    'Usage: sluice COMMAND [OPTIONS]',
    `\nCommands:\n${columns(commands.map(({ name, summary }) => [name, summary] as const))}`,
    `\nOptions:\n${columns([
      ['--help', 'show this text; after a command, its own'],
      ['--version', 'show the version'],
    ])}`,
    '\nExit codes: 0 fine, 1 found something, 2 used wrongly or could not run.',
    '',
  ].join('\n')
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4
  return rows
    .map(
      ([left, right]) =>
        `  ${left}`.padEnd(width) + wrapped(right, 100 - width).join(`\n${' '.repeat(width)}`),
    )
    .join('\n')
}

function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
