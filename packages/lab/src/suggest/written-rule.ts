import type { AlgorithmName } from '@sluice/limiter/algorithms'
import type { TrafficSource } from '../traffic/source.ts'
import { limitText, nameOfRule, type RuleSubject } from './rule-text.ts'
import type { SuggestedPoint, Suggestion } from './suggestion.ts'

/** The rule as a rulebook, with a comment of where its numbers come from. */
export function writtenRule(
  subject: RuleSubject & {
    readonly name?: string | undefined
    readonly cost?: readonly string[] | undefined
  },
  /** Whether requests cost other than 1. */
  isCosted: boolean,
  { met, allowance, demand }: Pick<Suggestion, 'met' | 'allowance' | 'demand'>,
  algorithm: AlgorithmName,
  point: SuggestedPoint,
  sources: readonly TrafficSource[],
): string {
  const { denied, share, oneLowerShare, peakRate, worstBurst, replayed } = point
  const minute = demand.find(({ seconds }) => seconds === 60)!
  const name = subject.name ?? sources.map((source) => source.name).join(', ')
  const comment = [
    `From ${JSON.stringify(name.slice(0, 200))}: requests ${met.requests}, keys ${met.keys}, sessions ${met.sessions},`,
    `${met.first} to ${met.last}.`,
    `At most ${percent(allowance.share)} of ${allowance.of} may be refused: ${allowance.most}.`,
    `This refuses ${percent(share)} of ${allowance.of}: requests ${denied.requests}, keys ${denied.keys}${replayed === undefined ? '' : `; a replay refused ${replayed.denied} requests`}.`,
    `One less would refuse ${percent(oneLowerShare)} or more.`,
    `In their busiest minute keys ${isCosted ? 'asked for' : 'sent'} ${minute.p50} (median), ${minute.p99} (99 %), ${minute.p99_9} (99.9 %), at most ${minute.max}.`,
    `With it at most ${peakRate} ${isCosted ? 'of cost' : 'requests'} passed in a second, and ${worstBurst} of one key.`,
    ...(subject.cost === undefined
      ? []
      : [`A request costs ${JSON.stringify(subject.cost.join('+'))}: whoever asks must say so.`]),
  ]
  const lines = comment.map((line) => `# ${line}\n`).join('')
  return `${lines}domain: suggested\nlimits:\n${limitText(nameOfRule(subject), subject, point, point.period, algorithm)}`
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`
}
