import { type Advice, adviseRulebook } from '@sluice/rulebook'
import { type Command, defineCommand } from '../command.ts'
import { loadRules, RULES_OPTIONS } from '../rules.ts'

/** Says what to change in a rulebook that has no mistake. */
export const advise: Command = defineCommand({
  name: 'advise',
  summary: 'names rules that do what they say, and probably not what is needed',
  operands: 'RULES…',
  options: {
    ...RULES_OPTIONS,
    strict: { type: 'boolean', help: 'exits with 1 when there is any advice' },
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
  },
  notes: `RULES are YAML files, and folders of them, taken as one rulebook. Advice is given on fixed windows and on
failure mode open where passwords are tried; on limits by user without one by address; on leases of more
than a twentieth of a limit; and on one limit that is alone for all routes. Each is two lines,
file:line:column: rule: reason, and what to write instead.`,
  async run(paths, values, io) {
    // What cannot be loaded is told first.
    await loadRules(paths, values, io)
    const advice = await adviseRulebook(paths, { calendarMonths: values['calendar-months'] ?? false })
    io.stdout.write(
      values.format === 'json' ? `${JSON.stringify({ advice }, null, 2)}\n` : adviceText(advice),
    )
    return values.strict && advice.length > 0 ? 1 : 0
  },
})

function adviceText(advice: readonly Advice[]): string {
  if (advice.length === 0) return 'no advice\n'
  const lines = advice.map(
    ({ file, line, column, rule, reason, instead }) =>
      `${file}:${line}:${column}: ${rule}: ${reason}\n  instead: ${instead}\n`,
  )
  return lines.join('')
}
