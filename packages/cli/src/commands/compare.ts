import { type Comparison, compareRules, descriptorsFrom, type RulesOfDomain } from '@sluice/lab'
import { type Command, defineCommand, type Values } from '../command.ts'
import type { Io } from '../io.ts'
import { comparisonMarkdown } from '../lab/comparison-markdown.ts'
import { shareOrCount } from '../lab/share.ts'
import { openTraffic, TRAFFIC_NOTES, TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { UsageError } from '../usage-error.ts'
import { barrenText, checkReplayable, DESCRIPTOR_OPTION, isBarren } from './simulate.ts'

/** Replays traffic once through two rulebooks. */
export const compare: Command = defineCommand({
  name: 'compare',
  summary: 'replays a log once through two rulebooks, and tells which requests they decide otherwise',
  operands: 'OLD NEW [LOG…]',
  options: {
    ...TRAFFIC_OPTIONS,
    'max-newly-denied': {
      type: 'string',
      value: 'COUNT',
      help: 'exits with 1 when more requests are newly refused: a count, or a share such as 0.1%',
    },
    domain: { type: 'string', value: 'NAME', help: 'which domain, where the rulebooks have several' },
    ...DESCRIPTOR_OPTION,
    ...RULES_OPTIONS,
    format: {
      type: 'string',
      value: 'FORMAT',
      choices: ['markdown', 'json'],
      help: 'markdown (default), which fits a pull request, or json',
    },
  },
  notes: `OLD and NEW are files or folders. Each rulebook decides with counters of its own, as if it had been
alone; its totals are those of sluice simulate. A request counts as refused where a rule that is
enforced refuses it, and under the rule that decided.

${TRAFFIC_NOTES}`,
  async run(operands, values, io) {
    const [oldPath, newPath, ...more] = operands
    if (oldPath === undefined || newPath === undefined)
      throw new UsageError('name two rulebooks: the old one, and the new one')
    const most = values['max-newly-denied']
    const isOver = most === undefined ? () => false : shareOrCount(most, '--max-newly-denied')
    const old = await rulesAt(oldPath, values, io)
    const proposed = await rulesAt(newPath, values, io)
    const traffic = openTraffic([...(values.log ?? []), ...more], values, io)
    try {
      const descriptors = values.descriptor && descriptorsFrom(values.descriptor)
      const comparison = await compareRules(traffic.sources, {
        ...traffic.options,
        old,
        new: proposed,
        descriptors,
      })
      traffic.stop()
      io.stdout.write(
        values.format === 'json'
          ? `${JSON.stringify(comparison, null, 2)}\n`
          : comparisonMarkdown(comparison, traffic.name),
      )
      if (isBarren(comparison)) {
        io.stderr.write(barrenText(comparison, traffic.name))
        return 2
      }
      return isTooMuch(comparison, isOver) ? 1 : 0
    } finally {
      traffic.stop()
    }
  },
})

function isTooMuch(
  { newlyDenied, requests }: Comparison,
  isOver: (count: number, all: number) => boolean,
): boolean {
  return isOver(newlyDenied.requests, requests)
}

async function rulesAt(
  path: string,
  values: Values<typeof RULES_OPTIONS & typeof DESCRIPTOR_OPTION & typeof TRAFFIC_OPTIONS> & {
    readonly domain?: string
  },
  io: Io,
): Promise<RulesOfDomain> {
  const { domains, rules } = await loadRules([path], values, io)
  const domain = chooseDomain(domains, values.domain, '--domain')
  checkReplayable(domain, values)
  return { rules, domain }
}
