import type { Unreadable } from './entry.ts'
import { LineFeed } from './line-feed.ts'
import { HEAD_LINES, LineMaker, type LineOptions, readerOfHead } from './line-maker.ts'
import { Sorter } from './sorter.ts'
import { type TrafficSource, unreadableSource } from './source.ts'
import type { TrafficBatch } from './traffic-batch.ts'
import { unpacked } from './unpacked.ts'

/** Lines that are no request, of which a report says why. */
export const MOST_SHOWN = 10

/** Requests held for sorting, by default; a log no longer than that is sorted as a whole. */
export const HELD_LINES = 100_000

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

/** The bytes, as they are counted. */
export async function* counting(
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
  #maker!: LineMaker<T>

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
    const { reader, hasHeader } = readerOfHead(head, this.#options)
    this.#maker = new LineMaker(reader, this.#options)
    if (hasHeader) {
      head.shift()
      this.#lines = 1
    }
    for (const line of head) this.#read(line, 0, line?.length ?? 0)
  }

  #read(bytes: Buffer | undefined, from: number, to: number): void {
    this.#lines++
    const made = this.#maker.read(bytes, from, to)
    if (typeof made === 'string') {
      if (made !== '') this.#skip(made)
      return
    }
    const { line } = this.#maker
    this.#options.onLine?.(made, line)
    this.#counts.requests++
    const batch = this.#sorter.push(line.at, line.duration, made)
    if (batch !== undefined) this.#ready.push(batch)
  }

  #skip(reason: string): void {
    this.#counts.skip({ ...(this.#file !== undefined && { file: this.#file }), line: this.#lines, reason })
  }
}
