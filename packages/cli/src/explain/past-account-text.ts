import type { RaisedLimit, RecordedAnswer, Remedies } from '@sluice/lab'
import { counted } from '../counted.ts'
import { printable } from '../printable.ts'
import { accountText } from './account-text.ts'
import type { PastAccount } from './past-account.ts'

/** An account of the past to read. */
export function pastAccountText(account: PastAccount): string {
  const { time, before, remedies, recorded, decision } = account
  const after = before === 0 ? 'with nothing before it' : `after ${counted(before, 'request')}`
  return [
    accountText(account, `at ${time}, ${after}`).trimEnd(),
    ...(remedies === undefined ? [] : ['', 'It would have passed', ...remedyLines(remedies)]),
    ...(recorded === undefined ? [] : ['', ...recordedLines(recorded, decision)]),
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

function recordedLines(
  { allowed, policy, remaining, degraded }: RecordedAnswer,
  decision: PastAccount['decision'],
): string[] {
  const answer = `${allowed ? 'admitted' : 'refused'}${policy === '' ? '' : ` by ${printable(policy)}`}`
  const left = remaining === null ? '' : `, ${remaining} remaining`
  const isSame =
    allowed === decision.allowed && policy === decision.policy && remaining === decision.remaining
  return [
    `The record says: ${answer}${left}${degraded ? ', without the store' : ''}`,
    ...(isSame
      ? []
      : ['It differs: what was used before the log begins is not known, or other rules were in force.']),
  ]
}
