import { ipKey } from '@sluice/limiter/address'
import { BadQuestion, createPipeline, type Pipeline } from '@sluice/limiter/pipeline'
import type { DescriptorQuery, Request, Rules } from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { FakeClock } from '@sluice/limiter/testing'
import type { LogEntry, Unreadable } from '../traffic/entry.ts'
import { Sorter } from '../traffic/sorter.ts'
import { policyNames } from './policy-names.ts'
import type { SimulationReport } from './report.ts'
import { SimulationTally } from './tally.ts'

/** Lines held for sorting, by default; each takes about 2 KB. */
export const HELD_LINES = 100_000
const MOST_LINES = 10

export interface ReplayOptions {
  readonly rules: Rules
  readonly domain: string
  /** Asks by descriptors instead of by request. */
  readonly descriptors?: ((request: Request) => readonly DescriptorQuery[]) | undefined
  /** Lines held for sorting. Default {@link HELD_LINES}. */
  readonly held?: number | undefined
}

/** Decides every request of the past at its own time, and counts. `domain` must be one of the rules'. */
export async function replayLog(
  traffic: AsyncIterable<LogEntry | Unreadable>,
  { rules, domain, descriptors, held = HELD_LINES }: ReplayOptions,
): Promise<SimulationReport> {
  const clock = new FakeClock(0)
  const pipeline = createPipeline({
    rules: () => rules,
    store: new MemoryStore({ clock }),
    respond: { dialect: [], when: 'denied' },
    wallClock: () => clock.now() / 1_000,
  })
  const sorter = new Sorter(held)
  const tally = new SimulationTally(policyNames(rules.domains.get(domain)!, descriptors !== undefined))
  const unreadableLines: Unreadable[] = []
  let requests = 0
  let unreadable = 0
  const skip = (line: Unreadable): void => {
    unreadable++
    if (unreadableLines.length < MOST_LINES) unreadableLines.push({ line: line.line, reason: line.reason })
  }
  const decide = (entry: LogEntry): void => {
    clock.set(entry.at)
    const reason = ask(pipeline, domain, entry, descriptors, tally)
    if (reason === undefined) requests++
    else skip({ line: entry.line, reason })
  }
  for await (const line of traffic) {
    if ('reason' in line) skip(line)
    else for (const entry of sorter.push(line)) decide(entry)
  }
  for (const entry of sorter.flush()) decide(entry)
  return { requests, unreadable, unreadableLines, late: sorter.late, policies: tally.reports() }
}

/** @returns why the request cannot be decided */
function ask(
  pipeline: Pipeline<false>,
  domain: string,
  { request, cost }: LogEntry,
  descriptors: ReplayOptions['descriptors'],
  tally: SimulationTally,
): string | undefined {
  const asked =
    descriptors === undefined ? { request: withAddress(request) } : { descriptors: descriptors(request) }
  try {
    const { decision, matched } = pipeline.check({ domain, ...asked, ...(cost !== undefined && { cost }) })
    tally.add(decision, matched.missing)
    return undefined
  } catch (error) {
    if (error instanceof BadQuestion) return error.message
    throw error
  }
}

/** Logs may have a name, or `-`, where the client's address is: then nothing is known of it. */
function withAddress(request: Request): Request {
  const { ip, ...rest } = request
  return ip === undefined || ipKey(ip) !== undefined ? request : rest
}
