import type { AnswerThen, RaisedLimit, Remedies } from '@sluice/lab'
import { counted } from '../counted.ts'
import { printable } from '../printable.ts'
import { accountText } from './account-text.ts'
import { type DifferingField, UNAVAILABLE } from './differences.ts'
import type { PastAccount } from './past-account.ts'

/** An account of the past to read. */
export function pastAccountText(account: PastAccount): string {
  const { time, before, remedies } = account
  const after = before === 0 ? 'with nothing before it' : `after ${counted(before, 'request')}`
  return [
    accountText(account, `at ${time}, ${after}`).trimEnd(),
    ...(remedies === undefined ? [] : ['', 'It would have passed', ...remedyLines(remedies)]),
    ...recordedLines(account),
    '',
  ].join('\n')
}

function remedyLines({ waitMs, cost, limits }: Remedies): string[] {
  return [
    ...(waitMs === null ? [] : [`- ${waitMs} ms later, if nobody else had come`]),
    ...(cost === undefined ? [] : [`- with a cost of ${cost}`]),
    limitLine(limits),
  ]
}

function limitLine(limits: readonly RaisedLimit[]): string {
  const raised = limits.map(({ policy, option, is, needed }) =>
    needed === undefined
      ? `without ${printable(policy)}`
      : `with a ${option} of ${needed} in place of ${is} in ${printable(policy)}`,
  )
  return `- ${raised.join(', and ')}, from the first request on`
}

/** Both answers, one beside the other. */
function recordedLines({ recorded, differences, reasons = [], decision }: PastAccount): string[] {
  if (recorded === undefined) return []
  const { allowed, policy, remaining, retryAfterMs } = decision
  const rows =
    'status' in recorded
      ? [['answer', `status ${recorded.status}`, answerText(allowed)]]
      : [
          ['answer', answerText(recorded.allowed), answerText(allowed)],
          ['policy', printable(recorded.policy), printable(policy)],
          ['remaining', String(recorded.remaining ?? 'not known'), String(remaining)],
          ['wait', waitText(recorded.waitMs), waitText(retryAfterMs)],
        ]
  const lines = [['', 'recorded', 'replayed'], ...rows]
  const widths = [0, 1].map((i) => Math.max(...lines.map((cells) => cells[i]!.length)))
  return [
    '',
    ...lines.map(([name, then, now]) => `${name!.padEnd(widths[0]!)}  ${then!.padEnd(widths[1]!)}  ${now}`),
    ...verdictLines(recorded, differences!, reasons),
  ]
}

function verdictLines(
  recorded: AnswerThen,
  differences: readonly DifferingField[],
  reasons: readonly string[],
): string[] {
  if (differences.length > 0) return ['They differ. Why that can be:', ...reasons.map(bullet)]
  if ('status' in recorded && recorded.status === UNAVAILABLE)
    return ['That status may be a refusal by a limit, or a fault.']
  return ['Both agree.']
}

function bullet(reason: string): string {
  return `- ${printable(reason, 200)}`
}

function answerText(allowed: boolean): string {
  return allowed ? 'admitted' : 'refused'
}

function waitText(ms: number | null): string {
  return ms === null ? 'no wait helps' : `${ms} ms`
}
