import {
  descriptorsFrom,
  explainPast,
  LabError,
  namedSpan,
  type PastChoice,
  type RecordedAnswer,
  type Remedies,
  recordedAnswer,
  type TrafficSource,
} from '@sluice/lab'
import type { Domain, Rules } from '@sluice/limiter/rules'
import type { Values } from '../command.ts'
import type { Io } from '../io.ts'
import { openTraffic, type TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { chooseDomain } from '../rules.ts'
import { UsageError } from '../usage-error.ts'
import { type Account, accountOfDecision } from './account.ts'

/** A decision that happened: which rules met it, what they said, what would have let it pass. */
export interface PastAccount extends Account {
  readonly time: string
  /** Requests of the log before it. */
  readonly before: number
  /** Where it was refused. */
  readonly remedies?: Remedies
  /** What the line of a record says of it. */
  readonly recorded?: RecordedAnswer
}

/** How the command line names a decision of the past. */
export type PastValues = Values<typeof TRAFFIC_OPTIONS> & {
  readonly at?: string
  readonly key?: string
  readonly line?: string
  readonly domain?: string
  readonly descriptor?: readonly string[]
}

/**
 * Replays the log up to the decision that is meant.
 * @throws UsageError, LabError
 */
export async function pastAccountOf(
  domains: readonly Domain[],
  rules: Rules,
  values: PastValues,
  io: Io,
): Promise<PastAccount> {
  const { line, log = [], descriptor } = values
  if (log.length === 0 && line === undefined)
    throw new UsageError(
      'name the log of the decision, as --log FILE, or the decision itself, as --line TEXT',
    )
  if (log.includes('-')) throw new UsageError('--log must be files: they are read more than once')
  const recorded = line === undefined ? undefined : recordedAnswer(line)
  const domain = chooseDomain(domains, values.domain ?? recorded?.domain, '--domain')
  const choice = choiceOf(values)
  const traffic = log.length === 0 ? undefined : openTraffic(log, values, io, PASSES)
  try {
    const found = await explainPast(
      traffic?.sources ?? [],
      {
        ...(traffic?.options ?? { format: undefined, fields: values.fields }),
        rules,
        domain: domain.name,
        descriptors: descriptor && descriptorsFrom(descriptor),
      },
      choice,
    )
    if (found === undefined) throw new LabError(`${traffic!.name} has no such request`)
    const { past, before, remedies } = found
    return {
      ...accountOfDecision(rules, past.question, past.steps, past.decision),
      time: new Date(past.at / 1_000).toISOString(),
      before,
      ...(remedies && { remedies }),
      ...(recorded && { recorded }),
    }
  } finally {
    traffic?.stop()
  }
}

/** One to find the request, one for those that met the same counters. */
const PASSES = 2

/** @throws UsageError */
function choiceOf({ at, key, line }: PastValues): PastChoice {
  if (line !== undefined) {
    if (at !== undefined || key !== undefined)
      throw new UsageError('--line names a request by itself: leave --at and --key out')
    return { line: lineSource(line) }
  }
  if (at === undefined && key === undefined)
    throw new UsageError('say which decision: --at TIME, --key KEY or both, or --line TEXT')
  const span = at === undefined ? undefined : namedSpan(at)
  if (at !== undefined && span === undefined)
    throw new UsageError(
      `--at must be a time such as 2026-01-31T10:05:03Z, not ${JSON.stringify(at.slice(0, 80))}`,
    )
  return { ...span, key }
}

function lineSource(line: string): TrafficSource {
  return {
    name: '--line',
    size: undefined,
    isRepeatable: true,
    open: async function* () {
      yield Buffer.from(`${line}\n`)
    },
  }
}
