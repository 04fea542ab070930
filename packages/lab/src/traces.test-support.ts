import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { compile, type Domain, type Rules } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'

const FOLDER: string = fileURLToPath(new URL('../fixtures/traces/', import.meta.url))

/** All traces, by file. */
export const TRACES: readonly string[] = [
  'apache-combined-2015.log.gz',
  'nasa-1995-07-01.log.gz',
  'nasa-1995-08-01.log.gz',
  'azure-llm-2023-code.csv.gz',
  'azure-llm-2023-conv.csv.gz',
  'mooncake-conversation-2025.csv.gz',
  'mooncake-synthetic-2025.csv.gz',
]

export function tracePath(file: string): string {
  return join(FOLDER, file)
}

/** The part of a key by which a trace's clients are told apart. */
export function keyOfTrace(file: string): 'ip' | 'tenant' {
  return file.includes('.csv') ? 'tenant' : 'ip'
}

export interface TraceRow {
  readonly ms: number
  readonly key: string
  readonly tokens: number
  /** Method and path without a query; empty where the trace has none. */
  readonly route: string
}

/** Reads a trace by other means than the package does, in the order of times. */
export function rowsOfTrace(file: string): TraceRow[] {
  const lines = gunzipSync(readFileSync(tracePath(file)))
    .toString()
    .trimEnd()
    .split('\n')
  const rows = file.includes('.csv')
    ? lines.slice(1).map((line) => {
        const [ms, key, input, output] = line.split(',')
        return { ms: Number(ms), key: key!, tokens: Number(input) + Number(output), route: '' }
      })
    : lines.map((line) => {
        const [day, month, rest] = line.split('[')[1]!.split(/[/\]]/) as [string, string, string]
        const [year, hour, minute, second, zone] = rest.split(/[: ]/)
        const ms = Date.parse(`${day} ${month} ${year} ${hour}:${minute}:${second} GMT${zone}`)
        const [method, target] = line.split('"')[1]!.split(' ') as [string, string]
        return { ms, key: line.split(' ')[0]!, tokens: 0, route: `${method} ${target.split('?')[0]}` }
      })
  return rows.sort((a, b) => a.ms - b.ms)
}

/** Rules of one domain from the text of their `limits`. */
export function rulesOf(limits: string): { rules: Rules; domain: Domain } {
  const domains = loadText(`domain: replay\nlimits:\n${limits}`)
  return { rules: compile(domains), domain: domains[0]! }
}
