import { type FileProblem, formatProblem, RulebookError } from '@sluice/rulebook'
import { type Command, defineCommand, type Values } from '../command.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { type LoadedRules, loadRules, RULES_OPTIONS } from '../rules.ts'

/** Validates rulebooks. */
export const check: Command = defineCommand({
  name: 'check',
  summary: 'validates a rulebook, and names every mistake in it',
  operands: 'RULES…',
  options: {
    ...RULES_OPTIONS,
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
  },
  notes: `RULES are YAML files, and folders of them, taken as one rulebook. Each mistake is a line
file:line:column: message. Exit 1 when there is any.`,
  async run(paths, values, io) {
    const { format } = values
    const { loaded, problems = [] } = await loadOrProblems(paths, values, io)
    if (format === 'json') {
      io.stdout.write(`${JSON.stringify({ ok: problems.length === 0, problems }, null, 2)}\n`)
    } else {
      for (const problem of problems) io.stderr.write(`${formatProblem(problem)}\n`)
      if (loaded !== undefined) io.stdout.write(summaryOf(loaded))
    }
    return problems.length === 0 ? 0 : 1
  },
})

async function loadOrProblems(
  paths: readonly string[],
  values: Values<typeof RULES_OPTIONS>,
  io: Io,
): Promise<{ loaded?: LoadedRules; problems?: readonly FileProblem[] }> {
  try {
    return { loaded: await loadRules(paths, values, io) }
  } catch (error) {
    if (error instanceof RulebookError) return { problems: error.problems }
    throw error
  }
}

function summaryOf({ domains }: LoadedRules): string {
  const lines = domains.map(({ name, limits, descriptors, network = [] }) => {
    const parts = [
      ...(limits.length > 0 ? [counted(limits.length, 'limit')] : []),
      ...(descriptors.length > 0 ? [counted(descriptors.length, 'descriptor')] : []),
      ...(network.length > 0 ? [counted(network.length, 'network rule')] : []),
    ]
    return `${name}: ${parts.join(', ')}\n`
  })
  return `${lines.join('')}ok\n`
}
