import { statSync } from 'node:fs'
import { type Command, defineCommand } from '../command.ts'
import { cannotRead, openInput } from '../input.ts'
import { withProgress } from '../progress.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { descriptorsFrom } from '../simulate/descriptors.ts'
import { HELD_LINES, replayLog } from '../simulate/replay.ts'
import type { SimulationReport } from '../simulate/report.ts'
import { tableOf } from '../simulate/table.ts'
import { FORMATS, type Format, readTraffic } from '../traffic/read-traffic.ts'
import { UsageError } from '../usage-error.ts'

const NOTES = `A line of an access log gives ip, method, path, query, the headers user-agent and referer, and the
attributes user, status and bytes.
A CSV's first line names its columns. t_ms, in milliseconds, is each request's time. ip, method, path and
host are the request's; every other column is the attribute of its name. key also stands for ip, user,
tenant and api-key, where there is no such column.

Requests keep the log's own times. Where it is out of order, lines are held and sorted: a log of no more
than --held-lines as a whole, a longer one as far as those reach; lines that come later than that count at
the time reached, and are reported.

A policy's figures are its own: denied is what it alone refuses, or would in shadow mode. Leases of a
concurrency limit are never released; they end with their time to live.`

/** What is read, for whoever gives something else. */
const READS = `Read are access logs of Apache and nginx, in the formats common and combined, and CSV of which the first line
names t_ms and other columns. See sluice simulate --help.`
const AS_CSV = `It is JSON: make a CSV of it, such as
  (echo t_ms,ip,path; jq -r '[(.time | fromdateiso8601 * 1000), .ip, .path] | @csv' LOG) > log.csv`

/** Replays traffic through a rulebook at the log's times. */
export const simulate: Command = defineCommand({
  name: 'simulate',
  summary: 'replays a log through a rulebook, and tells what it would have refused',
  operands: 'RULES… [LOG]',
  options: {
    log: {
      type: 'string',
      value: 'FILE',
      help: 'the log, plain or gzip; - for standard input; default: the last operand',
    },
    'format-in': {
      type: 'string',
      value: 'FORMAT',
      choices: FORMATS,
      help: `${FORMATS.join(', ')}; default: as its first line looks`,
    },
    domain: { type: 'string', value: 'NAME', help: "which of the rulebook's domains, where it has several" },
    'cost-column': {
      type: 'string',
      value: 'NAMES',
      help: "attributes, joined by +, whose sum is a request's cost, such as input_tokens+output_tokens; default: 1",
    },
    descriptor: {
      type: 'string',
      multiple: true,
      value: 'KEY=COLUMN',
      help: "asks by this descriptor, such as remote_address=ip, or generic_key='slow',remote_address=ip; may be given again",
    },
    'held-lines': {
      type: 'string',
      value: 'COUNT',
      help: `lines held for sorting, 2 to 10000000; default ${HELD_LINES}`,
    },
    ...RULES_OPTIONS,
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
  },
  notes: NOTES,
  async run(operands, values, io) {
    const { paths, log } = rulesAndLog(operands, values.log)
    const held = heldLines(values['held-lines'])
    const descriptors = values.descriptor && descriptorsFrom(values.descriptor)
    const { domains, rules } = await loadRules(paths, values, io)
    const domain = chooseDomain(domains, values.domain, '--domain')
    if (domain.limits.length + domain.descriptors.length === 0) {
      throw new UsageError(
        `${domain.name} has network rules alone, which no log of requests can be replayed through`,
      )
    }
    if (descriptors === undefined && domain.limits.length === 0) {
      throw new UsageError(
        `${domain.name} has descriptors alone: say what makes them, with --descriptor KEY=COLUMN`,
      )
    }
    const input = openInput(log, io)
    const traffic = readTraffic(withProgress(input, io.stderr), {
      format: values['format-in'] as Format | undefined,
      cost: values['cost-column']?.split('+'),
    })
    try {
      const report = await replayLog(traffic, { rules, domain: domain.name, descriptors, held })
      io.stdout.write(values.format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : tableOf(report))
      if (!isBarren(report)) return 0
      const json = report.unreadableLines.every(({ reason }) => reason === 'it is JSON')
      io.stderr.write(`sluice: no line of ${input.name} can be read.${json ? ` ${AS_CSV}` : ''}\n${READS}\n`)
      return 2
    } catch (error) {
      throw cannotRead(input.name, error)
    }
  },
})

/** The log is what `--log` names, else the last operand. @throws UsageError */
function rulesAndLog(
  operands: readonly string[],
  option: string | undefined,
): { readonly paths: readonly string[]; readonly log: string } {
  if (option !== undefined) return { paths: operands, log: option }
  const log = operands.at(-1)
  const isRules =
    log === undefined || /\.ya?ml$/.test(log) || statSync(log, { throwIfNoEntry: false })?.isDirectory()
  if (isRules || operands.length < 2)
    throw new UsageError('name the log behind the rules, or as --log FILE; - is standard input')
  return { paths: operands.slice(0, -1), log }
}

/** Not one line could be read: it is some other kind of file. */
function isBarren({ requests, unreadable }: SimulationReport): boolean {
  return requests === 0 && unreadable > 0
}

function heldLines(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 2 && count <= 10_000_000) return count
  throw new UsageError(`--held-lines must be a whole number from 2 to 10000000, not ${JSON.stringify(text)}`)
}
