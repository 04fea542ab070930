import { type ShareOf, type SuggestOptions, suggestLimits } from '@sluice/lab'
import { type AlgorithmName, algorithms } from '@sluice/limiter/algorithms'
import { ticksOf } from '@sluice/limiter/time'
import { RulebookError } from '@sluice/rulebook'
import { type Command, defineCommand } from '../command.ts'
import { shareFrom } from '../lab/share.ts'
import { suggestionText } from '../lab/suggestion-text.ts'
import { COST_COLUMN_OPTION, openTraffic, TRAFFIC_NOTES, TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { whenFrom } from '../lab/when.ts'
import { UsageError } from '../usage-error.ts'
import { barrenText, isBarren } from './simulate.ts'

const UNITS = ['requests', 'keys', 'sessions']
/** The log is read to choose limits, and once more to replay them. */
const PASSES = 2

/** Finds limits that fit a log. */
export const suggest: Command = defineCommand({
  name: 'suggest',
  summary: 'finds the limits that refuse at most a share of what a log holds, and writes the rule',
  operands: '[LOG…]',
  options: {
    ...TRAFFIC_OPTIONS,
    key: {
      type: 'string',
      value: 'PARTS',
      help: 'by what is counted, as in key: of a rule, parts joined by commas, such as ip or user,path; none for all together',
    },
    when: {
      type: 'string',
      multiple: true,
      value: 'FACT=VALUE',
      help: 'which requests count: path=/login, method=POST, host=…, ip=…, header:NAME=…, query:NAME=…; may be given again',
    },
    cost: {
      type: 'string',
      value: 'COST',
      help: 'what a request costs, as cost: of a rule: a number, attribute:NAME or header:NAME; default: 1',
    },
    ...COST_COLUMN_OPTION,
    'deny-at-most': { type: 'string', value: 'SHARE', help: 'the most that may be refused, such as 0.1%' },
    of: {
      type: 'string',
      value: 'WHAT',
      choices: UNITS,
      help: 'of what that is a share: requests (default), keys, or sessions, which are 30 minutes apart',
    },
    'next-hop': {
      type: 'string',
      value: 'RATE',
      help: 'what the next hop takes, such as 160/s: no choice lets more pass in a second',
    },
    period: {
      type: 'string',
      multiple: true,
      value: 'TIME',
      help: 'a period to choose from; may be given again; default: 1s, 10s, 1m, 10m, 1h',
    },
    algorithm: {
      type: 'string',
      value: 'NAME',
      choices: Object.keys(algorithms),
      help: 'of which the rule is written; default: the first that keeps the share',
    },
    format: {
      type: 'string',
      value: 'FORMAT',
      choices: ['text', 'json', 'yaml'],
      help: 'text (default), json, or yaml: the rule alone',
    },
  },
  notes: `For each algorithm and period it finds the smallest limits, with their bursts, that keep the share: one
less refuses more. The log is read once for all of them; of each algorithm the choice that lets one
key have the least in a minute is then replayed as a rule. With --cost or --cost-column, limits, bursts,
--next-hop and all that passes are of what requests cost; shares and counts are of requests.

${TRAFFIC_NOTES}`,
  async run(operands, values, io) {
    const key = values.key
    if (key === undefined)
      throw new UsageError('say by what is counted, as --key ip; --key none for all together')
    const share = values['deny-at-most']
    if (share === undefined) throw new UsageError('say what may be refused at most, as --deny-at-most 0.1%')
    const chosen: Omit<SuggestOptions, 'name'> = {
      key: key === 'none' ? [] : key.split(','),
      when: whenFrom(values.when),
      ...costOf(values),
      share: shareFrom(share, '--deny-at-most'),
      of: values.of as ShareOf | undefined,
      nextHop: values['next-hop'] === undefined ? undefined : rateFrom(values['next-hop']),
      periods: values.period,
      algorithm: values.algorithm as AlgorithmName | undefined,
    }
    for (const period of values.period ?? []) ticksOf(period)
    const traffic = openTraffic([...(values.log ?? []), ...operands], values, io, PASSES)
    try {
      const suggestion = await suggestLimits(traffic.sources, {
        ...traffic.options,
        ...chosen,
        name: traffic.name,
      }).catch((error: unknown) => {
        if (error instanceof RulebookError) throw new UsageError(messagesOf(error))
        throw error
      })
      traffic.stop()
      if (values.format === 'json') io.stdout.write(`${JSON.stringify(suggestion, null, 2)}\n`)
      else if (values.format !== 'yaml') io.stdout.write(suggestionText(suggestion))
      else if (suggestion.rule !== null) io.stdout.write(suggestion.rule)
      if (isBarren(suggestion)) {
        io.stderr.write(barrenText(suggestion, traffic.name))
        return 2
      }
      return suggestion.rule === null ? 1 : 0
    } finally {
      traffic.stop()
    }
  },
})

/** @throws UsageError */
function costOf({
  cost,
  'cost-column': columns,
}: {
  readonly cost?: string
  readonly 'cost-column'?: string
}): Pick<SuggestOptions, 'cost' | 'ruleCost'> {
  if (cost === undefined) return { cost: columns?.split('+') }
  if (columns !== undefined)
    throw new UsageError('--cost and --cost-column both say what a request costs: give one of them')
  if (!/^\d+$/.test(cost)) return { ruleCost: cost }
  if (Number(cost) === 0) throw new UsageError('--cost 0 uses nothing of a limit: there is nothing to find')
  return { ruleCost: Number(cost) }
}

/** What is wrong with a rule that was made of options. */
function messagesOf({ problems }: RulebookError): string {
  return [...new Set(problems.map(({ message }) => message))].join('; ')
}

/** `160/s`: requests in a second. @throws UsageError */
function rateFrom(text: string): number {
  const [, count, period] = /^(\d+)\/(.+)$/.exec(text) ?? []
  if (count === undefined || Number(count) < 1)
    throw new UsageError(`--next-hop must be a rate such as 160/s, not ${JSON.stringify(text)}`)
  return Math.max(1, Math.floor((Number(count) * 1_000_000) / ticksOf(period!)))
}
