import type { AskedLine } from '../asked-line.ts'
import { InstantReader } from '../instant-reader.ts'
import { FIELDS } from '../line-fields.ts'
import type { LineReader } from '../line-reader.ts'
import { bracketEnd } from '../line-scan.ts'

/** What a line of a record says was answered, and when. */
export interface RecordedAnswer {
  readonly time: string
  readonly domain: string
  readonly peek?: true
  readonly allowed: boolean
  /** The one that decided. */
  readonly policy: string
  /** Of it; null where it is not known. */
  readonly remaining: number | null
  /** Milliseconds; null where no wait helps. */
  readonly waitMs: number | null
  readonly degraded?: true
}

const ASKED = Buffer.from('"asked":')
const OPEN = 123
const BROKEN = 'its JSON is cut short or broken'

/** Where a line says what was asked; −1: nowhere. */
interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Reads what `sluice serve --record` writes. Lines of other domains, and questions that only looked, are passed over.
 * @param domain Default: all of them
 */
export function recordReader(domain?: string): LineReader {
  const instants = new InstantReader()
  return {
    attributes: ['asked'],
    text: (bytes, from, to) => bytes.toString('utf8', from, to),
    asked: askedOf,
    read(bytes, from, to, line) {
      if (from === to) return '' // behind a line that was cut short
      const span = askedSpan(bytes, from, to)
      const answer = span && answerOf(bytes, from, to, span)
      if (answer === undefined) return BROKEN
      if ((domain !== undefined && answer.domain !== domain) || answer.peek === true) return ''
      const time = Buffer.from(answer.time)
      const at = instants.iso(time, 0, time.length)
      if (!(at >= 0)) return 'its time is none that is known, such as 2026-01-31T10:05:03.250000Z'
      line.clear(bytes)
      line.at = at
      line.set(FIELDS.length, span!.from, span!.to)
      return undefined
    },
  }
}

/**
 * What the line of a record says was answered; `undefined` for any other line.
 * @example
 * recordedAnswer(line)?.allowed
 */
export function recordedAnswer(line: string): RecordedAnswer | undefined {
  const bytes = Buffer.from(line)
  const span = askedSpan(bytes, 0, bytes.length)
  return span && answerOf(bytes, 0, bytes.length, span)
}

function askedSpan(bytes: Buffer, from: number, to: number): Span | undefined {
  const name = bytes.indexOf(ASKED, from)
  const start = name + ASKED.length
  if (name < 0 || start >= to || bytes[start] !== OPEN) return undefined
  const end = bracketEnd(bytes, start, to)
  return end < 0 ? undefined : { from: start, to: end }
}

/** The line without what was asked, which many lines share. */
function answerOf(bytes: Buffer, from: number, to: number, asked: Span): RecordedAnswer | undefined {
  const before = bytes.toString('utf8', from, asked.from)
  const after = bytes.toString('utf8', asked.to, to)
  const answer = parsed(`${before}null${after}`) as RecordedAnswer | undefined
  return typeof answer?.time === 'string' && typeof answer.domain === 'string' ? answer : undefined
}

function askedOf(bytes: Buffer, from: number, to: number): AskedLine | string {
  const asked = parsed(bytes.toString('utf8', from, to)) as Partial<AskedLine> | undefined
  if (asked === undefined) return BROKEN
  const { request, descriptors, cost } = asked
  if (!isObject(request ?? {}) || !(descriptors === undefined || isDescriptors(descriptors)))
    return 'what it says was asked is no question'
  return {
    request: request ?? {},
    ...(descriptors && { descriptors }),
    ...(typeof cost === 'number' && { cost }),
  }
}

function isDescriptors(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => isObject(each) && Array.isArray(each.entries))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
