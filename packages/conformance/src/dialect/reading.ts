import { fail, ok } from 'node:assert/strict'
import type {
  Dialect,
  Header,
  HeaderLookup,
  ReadPolicy,
  ReadReport,
  Report,
  ReportedPolicy,
} from '@sluice/limiter/respond'

/** The largest number that headers must be able to say: 15 digits, the most of a structured field. */
const LARGEST_INTEGER = 999_999_999_999_999
const LARGEST = Number.MAX_SAFE_INTEGER

/** The lines as they arrive: spaces at the ends are lost on the way, and the case of names means nothing. */
export function arrived(lines: readonly Header[]): HeaderLookup {
  const values = new Map(lines.map(([name, value]) => [name.toLowerCase(), value.trim()]))
  return (name) => values.get(name.toLowerCase())
}

/** What is compared: the counts alone, or the times too. */
export type Compared = 'counts' | 'times'

/**
 * Holds what a dialect reads from its own lines to the report: every policy that it gives is one of the report's, one
 * at least has its limit and what remains, and of a refusal that is one that refused.
 */
export function holdToReport(dialect: Dialect, report: Report, compared: Compared): void {
  const lines = dialect.headers(report)
  const read = dialect.read(arrived(lines), report.nowMs)
  const said = lines.map((line) => line.join(': ')).join(' · ')
  if (lines.length === 0) {
    ok(read === undefined, 'read figures where there are no headers')
    return
  }
  ok(read !== undefined, `did not read back anything of ${said}`)
  for (const one of read.policies) {
    if (!report.policies.some((policy) => agrees(one, policy, compared)))
      fail(`read ${JSON.stringify(one)} from ${said}, which are the figures of no policy in the report`)
  }
  const whole = read.policies.filter(({ limit, remaining }) => limit !== undefined && remaining !== undefined)
  ok(whole.length > 0, `did not read back a limit and what remains of it from ${said}`)
}

/** Holds a dialect to reporting, of a refusal, a policy that refused. */
export function holdToRefusal(dialect: Dialect, report: Report): void {
  const lines = dialect.headers(report)
  if (report.allowed || lines.length === 0) return
  const refusing = report.policies.filter(({ allowed }) => !allowed)
  const read = dialect.read(arrived(lines), report.nowMs)
  const shown = read?.policies.some(
    (one) => one.remaining !== undefined && refusing.some((policy) => agrees(one, policy, 'counts')),
  )
  ok(shown, `reports no policy that refused: ${lines.map((line) => line.join(': ')).join(' · ')}`)
}

/** Holds what any reader gives to the bounds that are promised of it. */
export function holdToBounds(read: ReadReport | undefined): void {
  if (read === undefined) return
  const { length } = read.policies
  ok(length >= 1 && length <= 100, `read ${length} policies, where 1 to 100 may be`)
  for (const one of read.policies) {
    const { limit, remaining, windowSeconds, moreAfterMs, resetAfterMs, policy, unit, partitionKey } = one
    for (const count of [limit, remaining])
      ok(count === undefined || (Number.isSafeInteger(count) && count >= 0), `read the count ${count}`)
    for (const ms of [moreAfterMs, resetAfterMs])
      ok(ms === undefined || (ms >= 0 && ms <= LARGEST), `read the duration ${ms}`)
    ok(
      windowSeconds === undefined || (windowSeconds > 0 && windowSeconds <= LARGEST),
      'read a window of no length',
    )
    for (const text of [policy, unit]) ok(text === undefined || typeof text === 'string')
    ok(partitionKey === undefined || partitionKey instanceof Uint8Array)
  }
}

/** Whether all that was read is true of the policy. */
function agrees(read: ReadPolicy, policy: ReportedPolicy, compared: Compared): boolean {
  return (
    isName(read.policy, policy.policy) &&
    isCount(read.limit, policy.limit) &&
    isCount(read.remaining, policy.remaining) &&
    [undefined, policy.windowSeconds].includes(read.windowSeconds) &&
    [undefined, reportedUnit(policy)].includes(read.unit) &&
    isKey(read.partitionKey, policy.partitionKey) &&
    (compared === 'counts' ||
      (isWait(read.moreAfterMs, policy.moreAfterMs) && isWait(read.resetAfterMs, policy.resetAfterMs)))
  )
}

/** A name that no rule accepts may come back as anything; a line cannot keep spaces at its ends. */
function isName(read: string | undefined, name: string): boolean {
  return read === undefined || !/^[ -~]+$/.test(name) || read.trim() === name.trim()
}

/** Rounded down, not below 0; a number too large for a header may be any large one below it. */
function isCount(read: number | undefined, count: number): boolean {
  if (read === undefined) return true
  const truth = Math.max(0, Math.floor(count))
  return truth <= LARGEST_INTEGER ? read === truth : read >= LARGEST_INTEGER && read <= truth
}

/** Rounded up to the second, give or take the last bits of a number of this size. */
function isWait(read: number | undefined, ms: number | null): boolean {
  if (read === undefined) return true
  if (ms === null) return false
  const truth = Math.min(ms, LARGEST)
  const slack = 1e-6 + truth * 2 ** -50
  return read >= truth - slack && read < truth + 1_000 + slack
}

function isKey(read: Uint8Array | undefined, key: Uint8Array | undefined): boolean {
  return read === undefined || read.join() === key?.join()
}

function reportedUnit({ unit, windowSeconds }: ReportedPolicy): string {
  return unit ?? (windowSeconds === undefined ? 'concurrent-requests' : 'requests')
}
