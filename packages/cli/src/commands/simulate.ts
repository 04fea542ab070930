import { writeFileSync } from 'node:fs'
import { descriptorsFrom, ReportTally, reportPage, type SimulationReport, simulateTraffic } from '@sluice/lab'
import type { Domain } from '@sluice/limiter/rules'
import { type Command, defineCommand, type Values } from '../command.ts'
import { JOBS_NOTES, JOBS_OPTION, jobsFor } from '../lab/jobs.ts'
import { checkWritable, REPORT_OPTION } from '../lab/report-file.ts'
import { simulationText } from '../lab/simulation-text.ts'
import {
  COST_COLUMN_OPTION,
  namesRules,
  openTraffic,
  TRAFFIC_NOTES,
  TRAFFIC_OPTIONS,
} from '../lab/traffic.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { UsageError } from '../usage-error.ts'

const NOTES = `${TRAFFIC_NOTES}

Requests keep the log's own times. Where it is out of order, lines are held and sorted: a log of no more
than --held-lines as a whole, a longer one as far as those reach; lines that come later than that count at
the time reached, and are reported. Several files are read in the order of their times.

A policy's figures are its own: denied is what it alone refuses, or would in shadow mode. A slot of a
concurrency limit is released when the request ends, where the log says how long it took; else it ends with
its time to live.

${JOBS_NOTES}`

/** What is read, for whoever gives something else. */
export const READS = `Read are access logs of Apache, nginx, Caddy, Traefik, Envoy, HAProxy, IIS and AWS, lines of JSON with --fields, and
CSV of which the first line names t_ms and other columns. See sluice simulate --help.`
const AS_JSON =
  'It is JSON: say where it has the time and the address, such as --fields time=ts,ip=client.ip,path=url'

/** For rules that are descriptors. */
export const DESCRIPTOR_OPTION: {
  readonly descriptor: {
    readonly type: 'string'
    readonly multiple: true
    readonly value: string
    readonly help: string
  }
} = {
  descriptor: {
    type: 'string',
    multiple: true,
    value: 'KEY=COLUMN',
    help: "asks by this descriptor, such as remote_address=ip, or generic_key='slow',remote_address=ip; may be given again",
  },
}

/** Replays traffic through a rulebook at the log's times. */
export const simulate: Command = defineCommand({
  name: 'simulate',
  summary: 'replays a log through a rulebook, and tells what it would have refused',
  operands: 'RULES… [LOG…]',
  options: {
    ...TRAFFIC_OPTIONS,
    domain: { type: 'string', value: 'NAME', help: "which of the rulebook's domains, where it has several" },
    ...COST_COLUMN_OPTION,
    ...DESCRIPTOR_OPTION,
    ...RULES_OPTIONS,
    ...JOBS_OPTION,
    format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
    ...REPORT_OPTION,
  },
  notes: NOTES,
  async run(operands, values, io) {
    const { paths, logs } = rulesAndLogs(operands, values.log)
    const descriptors = values.descriptor && descriptorsFrom(values.descriptor)
    const { domains, rules, compileOptions } = await loadRules(paths, values, io)
    const domain = chooseDomain(domains, values.domain, '--domain')
    checkReplayable(domain, values)
    if (values.report !== undefined) checkWritable(values.report)
    const traffic = openTraffic(logs, values, io)
    try {
      const tally = values.report === undefined ? undefined : new ReportTally()
      const cost = values['cost-column']?.split('+')
      const report = await simulateTraffic(traffic.sources, {
        ...traffic.options,
        rules,
        domain,
        descriptors,
        cost,
        onFate: tally?.add,
        jobs: jobsFor(values.jobs, traffic.sources, { compileOptions }),
      })
      traffic.stop()
      if (tally !== undefined) {
        const about = { traffic: traffic.name, domain: domain.name }
        writeFileSync(values.report!, reportPage(tally.figures(report, about)))
      }
      io.stdout.write(
        values.format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : simulationText(report),
      )
      if (!isBarren(report)) return 0
      io.stderr.write(barrenText(report, traffic.name))
      return 2
    } finally {
      traffic.stop()
    }
  },
})

/** The logs are what `--log` names, and operands that are no rules. @throws UsageError */
function rulesAndLogs(
  operands: readonly string[],
  option: readonly string[] = [],
): { readonly paths: readonly string[]; readonly logs: readonly string[] } {
  const first = operands.findIndex((path, i) => i > 0 && !namesRules(path))
  const logs = [...option, ...(first < 0 ? [] : operands.slice(first))]
  if (logs.length === 0)
    throw new UsageError('name the log behind the rules, or as --log FILE; - is standard input')
  return { paths: first < 0 ? operands : operands.slice(0, first), logs }
}

/** @throws UsageError for a domain through which no log of requests can be replayed */
export function checkReplayable(
  domain: Domain,
  { descriptor, 'format-in': format }: Values<typeof TRAFFIC_OPTIONS & typeof DESCRIPTOR_OPTION>,
): void {
  if (domain.limits.length + domain.descriptors.length === 0) {
    throw new UsageError(
      `${domain.name} has network rules alone, which no log of requests can be replayed through`,
    )
  }
  if (descriptor === undefined && format !== 'record' && domain.limits.length === 0) {
    throw new UsageError(
      `${domain.name} has descriptors alone: say what makes them, with --descriptor KEY=COLUMN, or --format-in record`,
    )
  }
}

type LinesRead = Pick<SimulationReport, 'requests' | 'unreadable' | 'unreadableLines'>

/** Not one line could be read: it is some other kind of file. */
export function isBarren({ requests, unreadable }: LinesRead): boolean {
  return requests === 0 && unreadable > 0
}

/** What is said of such a file. */
export function barrenText({ unreadableLines }: LinesRead, name: string): string {
  const json = unreadableLines.every(({ reason }) => reason === 'it is JSON')
  return `sluice: no line of ${name} can be read.${json ? ` ${AS_JSON}` : ''}\n${READS}\n`
}
