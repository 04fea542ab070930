import type { DescriptorQuery, Request } from '@sluice/limiter/rules'
import type { AskedLine } from './asked-line.ts'
import type { Unreadable } from './entry.ts'
import { checkCost, type FormatOptions, readerFor } from './formats.ts'
import { LineFeed, MAX_LINE } from './line-feed.ts'
import { FIELDS, LineFields } from './line-fields.ts'
import type { LineReader } from './line-reader.ts'
import { LineMemo } from './memo.ts'
import { requestOfLine } from './request-of-line.ts'
import { Sorter } from './sorter.ts'
import { type TrafficSource, unreadableSource } from './source.ts'
import type { TrafficBatch } from './traffic-batch.ts'
import { unpacked } from './unpacked.ts'

/** Lines from which a format is seen. */
const HEAD_LINES = 20
const MOST_SHOWN = 10

/** Requests held for sorting, by default; a log no longer than that is sorted as a whole. */
export const HELD_LINES = 100_000

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
  /** Attributes whose sum is a request's cost. */
  readonly cost?: readonly string[] | undefined
  /** Requests held for sorting, at least 2. Default {@link HELD_LINES}. */
  readonly held?: number | undefined
  /** Is called with the bytes of the file that were read, as they come. */
  readonly onBytes?: ((count: number) => void) | undefined
  /** Is called for each request as it was read, before it is sorted. */
  readonly onLine?: ((made: T, line: LineFields) => void) | undefined
}

/** What became of the lines. */
export class ReadCounts {
  requests = 0
  unreadable = 0
  late = 0
  /** The first ten that are no request. */
  readonly shown: Unreadable[] = []

  skip(line: Unreadable): void {
    this.unreadable++
    if (this.shown.length < MOST_SHOWN) this.shown.push(line)
  }
}

/**
 * The requests of one log in the order of their times; gzip and zstd are undone. Lines that are none are counted.
 * @param file its name for messages, where several are read
 * @throws LabError for what cannot be read, a CSV without a header, or a cost that is no column
 */
export async function* readSource<T extends object>(
  source: TrafficSource,
  options: LineOptions<T>,
  counts: ReadCounts,
  file?: string,
): AsyncGenerator<TrafficBatch<T>> {
  const parser = new LineParser(options, counts, file)
  try {
    for await (const chunk of unpacked(counting(source.open(), options.onBytes))) {
      parser.push(chunk)
      yield* parser.ready()
    }
  } catch (error) {
    throw unreadableSource(source.name, error)
  }
  yield* parser.end()
}

async function* counting(
  bytes: AsyncIterable<Buffer>,
  onBytes: ((count: number) => void) | undefined,
): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    onBytes?.(chunk.length)
    yield chunk
  }
}

/** Lines of one file: it chooses the format by the first of them. */
class LineParser<T extends object> {
  readonly #options: LineOptions<T>
  readonly #counts: ReadCounts
  readonly #file: string | undefined
  readonly #sorter: Sorter<T>
  readonly #feed: LineFeed
  #head: (Buffer | undefined)[] | undefined = []
  #lines = 0
  #ready: TrafficBatch<T>[] = []
  #reader: LineReader | undefined
  #line!: LineFields
  #memo!: LineMemo<T | string>
  #places: readonly number[] = []

  constructor(options: LineOptions<T>, counts: ReadCounts, file: string | undefined) {
    this.#options = options
    this.#counts = counts
    this.#file = file
    this.#sorter = new Sorter(options.held ?? HELD_LINES)
    this.#feed = new LineFeed(
      (bytes, from, to) => this.#take(bytes, from, to),
      () => this.#take(undefined, 0, 0),
    )
  }

  push(chunk: Buffer): void {
    this.#feed.push(chunk)
  }

  /** What is in order by now. */
  ready(): TrafficBatch<T>[] {
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  end(): TrafficBatch<T>[] {
    this.#feed.end()
    if (this.#head !== undefined) this.#choose()
    const batches = [...this.ready(), this.#sorter.flush()]
    this.#counts.late += this.#sorter.late
    return batches
  }

  #take(bytes: Buffer | undefined, from: number, to: number): void {
    if (this.#head === undefined) {
      this.#read(bytes, from, to)
      return
    }
    this.#head.push(bytes === undefined ? undefined : Buffer.from(bytes.subarray(from, to)))
    if (this.#head.length >= HEAD_LINES) this.#choose()
  }

  #choose(): void {
    const head = this.#head!
    this.#head = undefined
    const { reader, hasHeader } = readerFor(
      head.filter((line) => line !== undefined),
      this.#options,
    )
    if (this.#options.cost !== undefined) checkCost(this.#options.cost, reader)
    this.#reader = reader
    this.#line = new LineFields(FIELDS.length + reader.attributes.length)
    this.#places = placesOf(reader, this.#options)
    this.#memo = new LineMemo(this.#places)
    if (hasHeader) {
      head.shift()
      this.#lines = 1
    }
    for (const line of head) this.#read(line, 0, line?.length ?? 0)
  }

  #read(bytes: Buffer | undefined, from: number, to: number): void {
    this.#lines++
    const reason =
      bytes === undefined
        ? `the line is longer than ${MAX_LINE} bytes`
        : this.#reader!.read(bytes, from, to, this.#line)
    if (reason !== undefined) {
      if (reason !== '') this.#skip(reason)
      return
    }
    let made = this.#memo.get(this.#line)
    if (made === undefined) {
      made = this.#make()
      this.#memo.keep(made)
    }
    if (typeof made === 'string') {
      this.#skip(made)
      return
    }
    this.#options.onLine?.(made, this.#line)
    this.#counts.requests++
    const batch = this.#sorter.push(this.#line.at, this.#line.duration, made)
    if (batch !== undefined) this.#ready.push(batch)
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
    const [line, reader] = [this.#line, this.#reader!]
    if (reader.asked === undefined) return { request: requestOfLine(line, reader, this.#places) }
    return reader.asked(line.bytes, line.from[FIELDS.length]!, line.to[FIELDS.length]!)
  }

  #skip(reason: string): void {
    this.#counts.skip({ ...(this.#file !== undefined && { file: this.#file }), line: this.#lines, reason })
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
