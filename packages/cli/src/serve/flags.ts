import type { CommandOptions } from '../command.ts'
import { type ServeOption, type ServeOptionRows, variableOf } from './option-row.ts'
import { CONFIG, SERVE_OPTIONS } from './options.ts'

/** What the command line may say: a flag for each setting, and those that follow from its kind. */
export function flagsOf(settings: ServeOptionRows): CommandOptions {
  const rows = Object.entries({ config: CONFIG, ...settings })
  return Object.fromEntries(rows.flatMap(([name, setting]) => flagRows(name, setting)))
}

function flagRows(name: string, setting: ServeOption): [string, CommandOptions[string]][] {
  const { kind, value, secret, operands } = setting
  if (operands) return []
  const help = helpOf(setting)
  if (kind === 'flag') {
    return [
      [name, { type: 'boolean', help }],
      [`no-${name}`, { type: 'boolean', help: `the opposite of --${name}` }],
    ]
  }
  const many = kind === 'list' || kind === 'paths'
  const own: CommandOptions[string] = {
    type: 'string',
    ...(many && { multiple: true as const }),
    ...(value !== undefined && { value }),
    help: many ? `${help}; may be given again` : help,
  }
  const file: CommandOptions[string] = {
    type: 'string',
    value: 'FILE',
    help: secret === 'hidden' ? `a file with a text that ${help}` : `a file with the value of --${name}`,
  }
  return [
    ...(secret === 'hidden' ? [] : [[name, own] satisfies [string, CommandOptions[string]]]),
    ...(secret === undefined ? [] : [[`${name}-file`, file] satisfies [string, CommandOptions[string]]]),
  ]
}

function helpOf({ help, choices, default: usual }: ServeOption): string {
  const words = choices === undefined ? help : `${help}: ${choices.join(', ')}`
  return usual === undefined ? words : `${words}; default ${usual}`
}

/** The table of docs/cli.md, in Markdown: `npm run settings` writes it. */
export function settingsTable(): string {
  const rows = Object.entries({ config: CONFIG, ...SERVE_OPTIONS }).map(([name, setting]) => {
    const { help, choices, default: usual, see } = setting
    const values = choices === undefined ? '' : `: ${choices.map((choice) => `\`${choice}\``).join(', ')}`
    const link = see === undefined ? '' : ` ([more](${see}))`
    return [
      flagText(name, setting),
      variableText(name, setting),
      usual === undefined ? '' : `\`${usual}\``,
      help + values + link,
    ]
  })
  const table = [['flag', 'variable', 'default', 'meaning'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const [head, ...body] = table
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

function flagText(name: string, { kind, value, secret, operands }: ServeOption): string {
  if (operands) return `\`${value}\` after \`serve\``
  if (kind === 'flag') return `\`--${name}\`, \`--no-${name}\``
  const own = secret === 'hidden' ? [] : [`\`--${name} ${value}\``]
  return [...own, ...(secret === undefined ? [] : [`\`--${name}-file FILE\``])].join(', ')
}

function variableText(name: string, { secret }: ServeOption): string {
  const variable = variableOf(name)
  return secret === undefined ? `\`${variable}\`` : `\`${variable}\`, \`${variable}_FILE\``
}
