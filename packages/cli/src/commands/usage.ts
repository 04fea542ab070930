import { type CallerUsage, type UsageDay, usageOf } from '@sluice/lab'
import { type Command, defineCommand } from '../command.ts'
import { counted, grouped } from '../counted.ts'
import type { Output } from '../io.ts'
import { aligned } from '../lab/simulation-text.ts'
import { namesRules, openTraffic, TRAFFIC_NOTES, TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { printable } from '../printable.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { UsageError } from '../usage-error.ts'
import { checkReplayable } from './simulate.ts'

/** Callers of a day that the table shows. */
const TOP = 20

/** Says what each caller used, day by day. */
export const usage: Command = defineCommand({
  name: 'usage',
  summary: 'sums up by day what each tenant, user or address used, and how much was refused',
  operands: '[RULES…] [LOG…]',
  options: {
    by: {
      type: 'string',
      value: 'PART',
      help: 'how callers are told apart: a part of a key, such as tenant or ip/24, or the name of an attribute',
    },
    ...TRAFFIC_OPTIONS,
    policy: {
      type: 'string',
      value: 'NAME',
      help: 'the limit of which the share is shown; default: the first with the same key',
    },
    domain: { type: 'string', value: 'NAME', help: "which of the rulebook's domains, where it has several" },
    'cost-column': {
      type: 'string',
      value: 'NAMES',
      help: "attributes, joined by +, whose sum is a request's units; default: 1",
    },
    ...RULES_OPTIONS,
    format: {
      type: 'string',
      value: 'FORMAT',
      choices: ['table', 'csv', 'json'],
      help: 'table (default) of the twenty that used most, csv or json of all',
    },
  },
  notes: `With RULES, the log is replayed through them: refused is what they refuse, and share is what was used of
what the limit admits in a day (of the whole limit, where its period is longer). Without, refused is what
the log has with status 429. Days are those of UTC. 100,000 callers of a day are counted one by one.

${TRAFFIC_NOTES}`,
  async run(operands, values, io) {
    if (values.by === undefined) throw new UsageError('say how callers are told apart, such as --by tenant')
    const paths = operands.filter(namesRules)
    const logs = [...(values.log ?? []), ...operands.filter((path) => !namesRules(path))]
    const rules = paths.length === 0 ? undefined : await loadRules(paths, values, io)
    const domain = rules && chooseDomain(rules.domains, values.domain, '--domain')
    if (domain !== undefined) checkReplayable(domain, values)
    const traffic = openTraffic(logs, values, io)
    try {
      const days = usageOf(traffic.sources, {
        ...traffic.options,
        by: values.by,
        cost: values['cost-column']?.split('+'),
        policy: values.policy,
        rules: domain && { rules: rules!.rules, domain },
      })
      const write = WRITERS[values.format ?? 'table']!
      const { requests, unreadable, isTold } = await write(days, io.stdout)
      traffic.stop()
      if (requests > 0 && !isTold)
        io.stderr.write(
          `sluice: no request of ${traffic.name} has ${JSON.stringify(values.by)}: all count as (none)\n`,
        )
      if (unreadable > 0) io.stderr.write(`sluice: ${counted(unreadable, 'line')} could not be read\n`)
      return requests === 0 && unreadable > 0 ? 2 : 0
    } finally {
      traffic.stop()
    }
  },
})

type Days = ReturnType<typeof usageOf>
interface ReadLines {
  readonly requests: number
  readonly unreadable: number
  /** Whether any caller has a name. */
  readonly isTold: boolean
}

/** Each writes a day as soon as it is over. */
const WRITERS: Readonly<Record<string, (days: Days, output: Output) => Promise<ReadLines>>> = {
  table: (days, output) => eachDay(days, (day, i) => output.write(`${i > 0 ? '\n' : ''}${tableOf(day)}`)),
  csv(days, output) {
    output.write('day,caller,requests,units,refused,share\n')
    return eachDay(days, (day) => output.write(csvOf(day)))
  },
  async json(days, output) {
    output.write('{ "days": [')
    const counts = await eachDay(days, (day, i) =>
      output.write(`${i > 0 ? ',' : ''}\n${JSON.stringify(day, null, 2)}`),
    )
    output.write(`],\n"requests": ${counts.requests}, "unreadable": ${counts.unreadable} }\n`)
    return counts
  },
}

async function eachDay(days: Days, write: (day: UsageDay, index: number) => void): Promise<ReadLines> {
  let isTold = false
  for (let i = 0; ; i++) {
    const { done, value } = await days.next()
    if (done) return { ...value, isTold }
    isTold ||= value.callers.some(({ caller }) => caller !== '')
    write(value, i)
  }
}

function tableOf({ day, callers, others }: UsageDay): string {
  const rest = callers.slice(TOP).reduce(
    (sum, { requests, units, refused }) => ({
      requests: sum.requests + requests,
      units: sum.units + units,
      refused: sum.refused + refused,
    }),
    others,
  )
  const rows = callers.slice(0, TOP).map((each) => rowOf(each))
  if (rest.requests > 0) rows.push(rowOf({ ...rest, caller: 'all others', share: null }))
  return `${aligned([[day, 'requests', 'units', 'refused', 'share'], ...rows]).join('\n')}\n`
}

function rowOf({ caller, requests, units, refused, share }: CallerUsage): string[] {
  return [
    caller === '' ? '(none)' : printable(caller),
    ...[requests, units, refused].map(grouped),
    share === null ? '–' : `${(share * 100).toFixed(2)} %`,
  ]
}

function csvOf({ day, callers, others }: UsageDay): string {
  const rows = callers.map(({ caller, requests, units, refused, share }) =>
    [day, cell(caller), requests, units, refused, share ?? ''].join(','),
  )
  if (others.requests > 0)
    rows.push([day, cell('(others)'), others.requests, others.units, others.refused, ''].join(','))
  return rows.map((row) => `${row}\n`).join('')
}

/** A cell as RFC 4180 has it. What a spreadsheet takes for a formula begins with an apostrophe. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
