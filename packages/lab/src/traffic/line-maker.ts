import type { DescriptorQuery, Request } from '@sluice/limiter/rules'
import type { AskedLine } from './asked-line.ts'
import { checkCost, type FormatOptions, readerFor } from './formats.ts'
import { MAX_LINE } from './line-feed.ts'
import { FIELDS, LineFields } from './line-fields.ts'
import type { LineReader } from './line-reader.ts'
import { LineMemo } from './memo.ts'
import { requestOfLine } from './request-of-line.ts'

/** Lines from which a format is seen. */
export const HEAD_LINES = 20

export interface LineOptions<T> extends FormatOptions {
  /**
   * Makes of a request what the caller needs; equal requests may share it. A text says why it cannot be decided.
   * @param cost the sum of the attributes in `cost`, or what a record says
   * @param descriptors by which it was asked, where a record says so
   */
  readonly make: (
    request: Request,
    cost: number | undefined,
    descriptors: readonly DescriptorQuery[] | undefined,
  ) => T | string
  /** Which fields of a request `make` looks at; default: all. Names as in {@link FIELDS}, and of attributes. */
  readonly wanted?: ReadonlySet<string> | undefined
  /** Attributes that are added up to a request's cost. */
  readonly cost?: readonly string[] | undefined
  /** Requests held for sorting, at least 2. Default {@link HELD_LINES}. */
  readonly held?: number | undefined
  /** Is called with the bytes of the file that were read, as they come. */
  readonly onBytes?: ((count: number) => void) | undefined
  /** Is called for each request as it was read, before it is sorted. */
  readonly onLine?: ((made: T, line: LineFields) => void) | undefined
}

/**
 * Who reads a file that begins with these lines (`undefined`: too long), and whether the first of them is a header.
 * @throws LabError for a CSV without a header, and a cost that is no column
 */
export function readerOfHead(
  head: readonly (Buffer | undefined)[],
  options: FormatOptions & Pick<LineOptions<object>, 'cost'>,
): ReturnType<typeof readerFor> {
  const found = readerFor(
    head.filter((line) => line !== undefined),
    options,
  )
  if (options.cost !== undefined) checkCost(options.cost, found.reader)
  return found
}

/** Makes of the lines of one file what the caller needs. */
export class LineMaker<T extends object> {
  /** The line that was read last. */
  readonly line: LineFields
  readonly #reader: LineReader
  readonly #options: Pick<LineOptions<T>, 'make' | 'cost'>
  readonly #places: readonly number[]
  readonly #memo: LineMemo<T | string>

  constructor(reader: LineReader, options: Pick<LineOptions<T>, 'make' | 'cost' | 'wanted'>) {
    this.line = new LineFields(FIELDS.length + reader.attributes.length)
    this.#reader = reader
    this.#options = options
    this.#places = placesOf(reader, options)
    this.#memo = new LineMemo(this.#places)
  }

  /** How often it has forgotten what it made of earlier lines. */
  get clears(): number {
    return this.#memo.clears
  }

  /**
   * @param bytes `undefined` for a line that is too long
   * @returns why it is no request: `''` where it need not be one
   */
  read(bytes: Buffer | undefined, from: number, to: number): T | string {
    if (bytes === undefined) return `the line is longer than ${MAX_LINE} bytes`
    const reason = this.#reader.read(bytes, from, to, this.line)
    if (reason !== undefined) return reason
    let made = this.#memo.get(this.line)
    if (made === undefined) {
      made = this.#make()
      this.#memo.keep(made)
    }
    return made
  }

  #make(): T | string {
    const asked = this.#asked()
    if (typeof asked === 'string') return asked
    const { request, descriptors } = asked
    const { cost, make } = this.#options
    const units = cost === undefined ? asked.cost : costFrom(request, cost)
    return typeof units === 'string' ? units : make(request, units, descriptors)
  }

  #asked(): AskedLine | string {
    const [line, reader] = [this.line, this.#reader]
    if (reader.asked === undefined) return { request: requestOfLine(line, reader, this.#places) }
    return reader.asked(line.bytes, line.from[FIELDS.length]!, line.to[FIELDS.length]!)
  }
}

/** The places that count, of the fields that are wanted. */
function placesOf(
  { attributes, identities, asked }: LineReader,
  { wanted, cost = [] }: Pick<LineOptions<object>, 'wanted' | 'cost'>,
): number[] {
  const names = [...FIELDS, ...attributes]
  return names.flatMap((name, place) => {
    const isWanted =
      wanted === undefined ||
      asked !== undefined ||
      wanted.has(name) ||
      cost.includes(name) ||
      (name === 'key' && identities !== undefined)
    return isWanted ? [place] : []
  })
}

function costFrom({ attributes = {} }: Request, names: readonly string[]): number | string {
  let sum = 0
  for (const name of names) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    if (value === undefined || !/^\d+$/.test(String(value)))
      return `${name} must be a whole number, to be a cost`
    sum += Number(value)
  }
  return Number.isSafeInteger(sum) ? sum : 'its cost is more than 2^53−1'
}
