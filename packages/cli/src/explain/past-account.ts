import {
  type AnswerThen,
  descriptorsFrom,
  explainPast,
  LabError,
  namedSpan,
  type PastChoice,
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
import { type DifferingField, differencesOf, reasonsOf } from './differences.ts'

/** A decision that happened: which rules met it, what they said, what would have let it pass. */
export interface PastAccount extends Account {
  readonly time: string
  /** Requests of the log before it. */
  readonly before: number
  /** Where it was refused. */
  readonly remedies?: Remedies
  /** What was answered then, where the log says it, and how the replay differs: an empty list, where it does not. */
  readonly recorded?: AnswerThen
  readonly differences?: readonly DifferingField[] | undefined
  /** Why it can differ. */
  readonly reasons?: readonly string[]
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
    if (found === undefined) throw new LabError(`${traffic!.name} ${missingText(values)}`)
    const { past, before, remedies, answered } = found
    const account = accountOfDecision(rules, past.question, past.steps, past.decision)
    const differences = answered && differencesOf(answered, past.decision)
    return {
      ...account,
      time: new Date(past.at / 1_000).toISOString(),
      before,
      ...(remedies && { remedies }),
      ...(answered && { recorded: answered, differences }),
      ...(answered && differences!.length > 0 && { reasons: reasonsOf(answered, account, log.length > 0) }),
    }
  } finally {
    traffic?.stop()
  }
}

function missingText({ at, key }: PastValues): string {
  if (key === undefined || at !== undefined) return 'has no such request'
  return `has no refused request that charges ${JSON.stringify(key)}, as sluice simulate shows keys; --at TIME finds admitted ones, too`
}

/** To find the request, those that met the same counters, and what was answered. */
const PASSES = 3

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
