import { statSync } from 'node:fs'
import {
  FORMATS,
  type Format,
  HELD_LINES,
  sourcesOf,
  type TrafficOptions,
  type TrafficSource,
} from '@sluice/lab'
import type { Values } from '../command.ts'
import type { Io } from '../io.ts'
import { startProgress } from '../progress.ts'
import { UsageError } from '../usage-error.ts'

interface TextOption {
  readonly type: 'string'
  readonly value: string
  readonly help: string
  readonly choices?: readonly string[]
}

/** What every command that reads logs has an option for. */
export const TRAFFIC_OPTIONS: {
  readonly log: TextOption & { readonly multiple: true }
  readonly 'format-in': TextOption
  readonly fields: TextOption
  readonly 'held-lines': TextOption
} = {
  log: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'a log, plain, gzip or zstd, a folder or a glob; - for standard input; may be given again',
  },
  'format-in': {
    type: 'string',
    value: 'FORMAT',
    choices: FORMATS,
    help: `${FORMATS.join(', ')}; default: as the first lines look`,
  },
  fields: {
    type: 'string',
    value: 'NAMES',
    help: 'where lines of JSON have what a request has, such as time=ts,ip=client.ip,path=url',
  },
  'held-lines': {
    type: 'string',
    value: 'COUNT',
    help: `lines held for sorting, 2 to 10000000; default ${HELD_LINES}`,
  },
}

/** Of commands that take the cost of a request from the log. */
export const COST_COLUMN_OPTION: { readonly 'cost-column': TextOption } = {
  'cost-column': {
    type: 'string',
    value: 'NAMES',
    help: "attributes, joined by +, that are added up to a request's cost, such as input_tokens+output_tokens; default: 1",
  },
}

/** What they say about it. */
export const TRAFFIC_NOTES = `Read are the access logs of Apache, nginx and Traefik (combined, common); of nginx, Caddy, Traefik
and Envoy in JSON; of Envoy and HAProxy as text; of AWS load balancers (ALB) and CloudFront, and of
IIS (W3C); any lines of JSON with --fields; and CSV. They give ip, method, path, query, host, the
headers user-agent and referer, and the attributes user, status and bytes, as far as the format has
them; --fields and CSV name further attributes.
A CSV's first line names its columns. t_ms, in milliseconds, is each request's time. ip, method,
path and host are the request's; every other column is the attribute of its name. key also stands
for ip, user, tenant and api-key, where there is no such column.`

/** The logs that a command was given, and how to read them. */
export interface Traffic {
  readonly sources: readonly TrafficSource[]
  readonly options: TrafficOptions
  /** As messages call them. */
  readonly name: string
  /** Ends the bar on the terminal. */
  stop(): void
}

/** @param passes how often the logs are read @throws UsageError, LabError */
export function openTraffic(
  logs: readonly string[],
  values: Values<typeof TRAFFIC_OPTIONS>,
  io: Io,
  passes = 1,
): Traffic {
  if (logs.length === 0) throw new UsageError('name the log, as --log FILE; - is standard input')
  if (logs.includes('-') && logs.length > 1) throw new UsageError('standard input can only be read alone')
  const sources = logs[0] === '-' ? [standardInput(io)] : sourcesOf(logs)
  const sizes = sources.map(({ size }) => size)
  const known = sizes.every((size) => size !== undefined)
  const progress = startProgress(
    known ? sizes.reduce((sum, size) => sum + size, 0) * passes : undefined,
    io.stderr,
  )
  return {
    sources,
    options: {
      format: values['format-in'] as Format | undefined,
      fields: values.fields,
      held: heldLines(values['held-lines']),
      onBytes: progress.add,
    },
    name: sources.length === 1 ? sources[0]!.name : `the ${sources.length} files`,
    stop: progress.stop,
  }
}

function standardInput({ stdin }: Io): TrafficSource {
  return {
    name: 'standard input',
    size: undefined,
    isRepeatable: false,
    open: () => stdin as AsyncIterable<Buffer>,
  }
}

/** Whether an operand of a command that takes rules and logs names rules: YAML, or a folder. */
export function namesRules(path: string): boolean {
  return /\.ya?ml$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function heldLines(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 2 && count <= 10_000_000) return count
  throw new UsageError(`--held-lines must be a whole number from 2 to 10000000, not ${JSON.stringify(text)}`)
}
