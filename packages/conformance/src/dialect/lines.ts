import { deepEqual, ok } from 'node:assert/strict'
import type { Dialect, Header, Report } from '@sluice/limiter/respond'

/** A header's name (RFC 9110 §5.6.2). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** A sign, a fraction, an exponent, and what JavaScript writes for no number. */
const NOT_WHOLE = /^[+-]\d|^\d+\.\d|^\d+e[+-]?\d|^-?(?:NaN|Infinity|undefined|null)$/i

/** A name, and a list of header names, each of them once, in whatever case. */
export function holdToNames({ name, names }: Dialect): void {
  ok(typeof name === 'string' && name !== '', 'has no name')
  ok(names.length > 0, 'lists no header')
  for (const header of names)
    ok(NAME.test(header), `lists ${JSON.stringify(header)}, which is no name of a header`)
  ok(new Set(names.map((header) => header.toLowerCase())).size === names.length, 'lists a header twice')
}

export function holdToListed(dialect: Dialect, report: Report): void {
  const sent = dialect.headers(report).map(([name]) => name)
  for (const name of sent) ok(dialect.names.includes(name), `sends ${name}, which it does not list`)
  ok(new Set(sent).size === sent.length, `sends one header twice: ${sent.join(', ')}`)
}

export function holdToVisible(dialect: Dialect, report: Report): void {
  for (const [name, value] of dialect.headers(report)) {
    ok(typeof value === 'string' && /^[ -~]*$/.test(value), `${name} holds ${JSON.stringify(value)}`)
  }
}

/** @param report without names that look like numbers */
export function holdToWhole(dialect: Dialect, report: Report): void {
  for (const [name, value] of dialect.headers(report)) {
    const wrong = value.split(/[\s,;=:"'()]+/).find((word) => NOT_WHOLE.test(word))
    ok(wrong === undefined, `${name} holds ${wrong}: ${value}`)
  }
}

/**
 * Holds a dialect to its report: the same lines each time, whatever it was asked before, from a frozen report too, and
 * no report changed.
 */
export function holdToPure(make: () => Dialect, report: Report, other: Report): void {
  const dialect = make()
  const own = structuredClone(report)
  const first = headerLines(dialect, own)
  deepEqual(own, report, 'changes the report')
  for (const before of [own, other]) {
    headerLines(dialect, before)
    for (const again of [own, frozen(structuredClone(report))])
      deepEqual(headerLines(dialect, again), first, 'says another thing when it is asked again')
  }
  deepEqual(headerLines(make(), report), first, 'says another thing when it has just been made')
}

/** The same where one report is changed and reported again: nothing of it may have been kept. */
export function holdToNow(make: () => Dialect, report: Report, other: Report): void {
  const dialect = make()
  const changing = structuredClone(report)
  headerLines(dialect, changing)
  changing.policies.forEach((policy, i) => void Object.assign(policy, other.policies[i]))
  deepEqual(
    headerLines(dialect, changing),
    headerLines(make(), changing),
    'reports figures that were changed since',
  )
}

/** A copy of the lines, so that a dialect which changes its own is found out. */
function headerLines(dialect: Dialect, report: Report): Header[] {
  return dialect.headers(report).map(([name, value]) => [name, value])
}

/** Frozen all through; the bytes of a partition key cannot be. */
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !ArrayBuffer.isView(part)) frozen(part)
  }
  return Object.freeze(value)
}
