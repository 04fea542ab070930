import { writeFileSync } from 'node:fs'
import {
  type Comparison,
  ComparisonTally,
  compareRules,
  descriptorsFrom,
  type RulesOfDomain,
  reportPage,
} from '@sluice/lab'
import { type Command, defineCommand, type Values } from '../command.ts'
import type { Io } from '../io.ts'
import { comparisonMarkdown } from '../lab/comparison-markdown.ts'
import { JOBS_NOTES, JOBS_OPTION, jobsFor } from '../lab/jobs.ts'
import { checkWritable, REPORT_OPTION } from '../lab/report-file.ts'
import { shareOrCount } from '../lab/share.ts'
import { COST_COLUMN_OPTION, openTraffic, TRAFFIC_NOTES, TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { millisecondsIn } from '../numbers.ts'
import { chooseDomain, type LoadedRules, loadRules, RULES_OPTIONS } from '../rules.ts'
import { secretOf } from '../secrets.ts'
import { shadowReport } from '../shadow/shadow-figures.ts'
import { shadowMarkdown, shadowText } from '../shadow/shadow-text.ts'
import { adminUrl } from '../top/admin-address.ts'
import { UsageError } from '../usage-error.ts'
import { barrenText, checkReplayable, DESCRIPTOR_OPTION, isBarren } from './simulate.ts'

/** Replays traffic once through two rulebooks. */
export const compare: Command = defineCommand({
  name: 'compare',
  summary:
    'replays a log through two rulebooks, and tells which requests they decide otherwise; or live and shadow rules',
  operands: 'OLD NEW [LOG…]',
  options: {
    ...TRAFFIC_OPTIONS,
    'max-newly-denied': {
      type: 'string',
      value: 'COUNT',
      help: 'exits with 1 when more requests are newly refused: a count, or a share such as 0.1%',
    },
    live: {
      type: 'string',
      multiple: true,
      value: 'ADDRESS',
      help: 'the admin address of a service: compares its rules in shadow mode with the others; may be given again',
    },
    'min-data': {
      type: 'string',
      value: 'TIME',
      help: 'with --live, exits with 1 when the rules are in force for less; default 48h',
    },
    domain: { type: 'string', value: 'NAME', help: 'which domain, where the rulebooks have several' },
    ...COST_COLUMN_OPTION,
    ...DESCRIPTOR_OPTION,
    ...RULES_OPTIONS,
    ...JOBS_OPTION,
    format: {
      type: 'string',
      value: 'FORMAT',
      choices: ['text', 'markdown', 'json'],
      help: 'markdown, which fits a pull request, or json; with --live also text. Default: markdown, text with --live',
    },
    ...REPORT_OPTION,
  },
  notes: `OLD and NEW are files or folders. Each rulebook decides with counters of its own, as if it had been
alone; its totals are those of sluice simulate. A request counts as refused where a rule that is
enforced refuses it, and under the rule that decided.

With --live nothing is replayed, and there are no operands: the service has counted how its rules in shadow
mode would have decided. ADDRESS is HOST:PORT or a URL; figures of several are added up. Where it asks for
its token: SLUICE_ADMIN_TOKEN, or SLUICE_ADMIN_TOKEN_FILE.

${JOBS_NOTES}

${TRAFFIC_NOTES}`,
  async run(operands, values, io) {
    if (values.live !== undefined) return compareLive(values.live, operands, values, io)
    if (values['min-data'] !== undefined || values.format === 'text')
      throw new UsageError('--min-data and --format text are for --live ADDRESS')
    const [oldPath, newPath, ...more] = operands
    if (oldPath === undefined || newPath === undefined)
      throw new UsageError('name two rulebooks: the old one, and the new one')
    const most = values['max-newly-denied']
    const isOver = most === undefined ? () => false : shareOrCount(most, '--max-newly-denied')
    const old = await rulesAt(oldPath, values, io)
    const proposed = await rulesAt(newPath, values, io)
    if (values.report !== undefined) checkWritable(values.report)
    const traffic = openTraffic([...(values.log ?? []), ...more], values, io)
    try {
      const descriptors = values.descriptor && descriptorsFrom(values.descriptor)
      const tally = values.report === undefined ? undefined : new ComparisonTally()
      const comparison = await compareRules(traffic.sources, {
        ...traffic.options,
        old,
        new: proposed,
        descriptors,
        cost: values['cost-column']?.split('+'),
        onFates: tally?.add,
        jobs: jobsFor(values.jobs, traffic.sources, old),
      })
      traffic.stop()
      if (tally !== undefined) {
        const about = { traffic: traffic.name, domain: proposed.domain.name }
        const rulebooks = { old: oldPath, new: newPath }
        writeFileSync(values.report!, reportPage(tally.figures(comparison, { ...about, rulebooks })))
      }
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

/** Options that have a place beside --live. */
const LIVE_OPTIONS = ['live', 'min-data', 'format']

/** How rules in shadow mode would have decided, where they are in force. */
async function compareLive(
  addresses: readonly string[],
  operands: readonly string[],
  values: Values & Readonly<{ 'min-data'?: string }>,
  io: Io,
): Promise<0 | 1> {
  const { 'min-data': minData = '48h', format = 'text' } = values
  if (operands.length > 0 || Object.keys(values).some((name) => !LIVE_OPTIONS.includes(name)))
    throw new UsageError(
      '--live compares what a service has counted: it takes no rules, no log, and no options but --min-data and --format',
    )
  const leastHours = hoursOf(minData)
  const token = await secretOf('SLUICE_ADMIN_TOKEN', io)
  const report = await shadowReport(addresses.map(adminUrl), token, Date.now())
  const texts = {
    text: shadowText,
    markdown: shadowMarkdown,
    json: (body: object) => `${JSON.stringify(body, null, 2)}\n`,
  }
  io.stdout.write(texts[format as keyof typeof texts](report))
  const short = report.domains.filter(({ hours }) => hours < leastHours)
  for (const { domain, hours } of short)
    io.stderr.write(`sluice: ${domain} has ${hours.toFixed(1)} h of data, less than --min-data ${minData}\n`)
  return short.length > 0 ? 1 : 0
}

/** @throws UsageError */
function hoursOf(text: string): number {
  const ms = text === '0' ? 0 : millisecondsIn(text)
  if (ms !== undefined) return ms / MS_PER_HOUR
  throw new UsageError(`--min-data must be a duration such as 48h, not ${JSON.stringify(text.slice(0, 80))}`)
}

const MS_PER_HOUR = 3_600_000

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
): Promise<RulesOfDomain & Pick<LoadedRules, 'compileOptions'>> {
  const { domains, rules, compileOptions } = await loadRules([path], values, io)
  const domain = chooseDomain(domains, values.domain, '--domain')
  checkReplayable(domain, values)
  return { rules, domain, compileOptions }
}
