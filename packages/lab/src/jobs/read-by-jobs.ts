import { LineFeed } from '../traffic/line-feed.ts'
import { HEAD_LINES, type LineOptions, readerOfHead } from '../traffic/line-maker.ts'
import { counting, HELD_LINES, type ReadCounts } from '../traffic/read-source.ts'
import { Sorter } from '../traffic/sorter.ts'
import { type TrafficSource, unreadableSource } from '../traffic/source.ts'
import type { TrafficBatch } from '../traffic/traffic-batch.ts'
import { unpacked } from '../traffic/unpacked.ts'
import type { JobLine } from './job-line.ts'
import { lineBlocks } from './line-blocks.ts'
import type { ParsedBlock, ReadRequest } from './messages.ts'

/** Blocks of a source that wait for a job, or for their turn. */
const BLOCKS_PER_JOB = 2

/** A request that a job has read, and where it was sent to be decided. */
export interface SharedRequest extends ReadRequest {
  readonly part: number
  /** Its number with the job that decides it. */
  id: number
  /** Which numbers are meant: they begin anew. */
  round: number
}

/**
 * The requests of one log as `readSource` gives them. Jobs parse its blocks of lines: each goes to the job that has the
 * fewest to do.
 * @param number of the source, among all
 */
export async function* readByJobs(
  source: TrafficSource,
  number: number,
  jobs: readonly JobLine[],
  options: LineOptions<object>,
  counts: ReadCounts,
  file: string | undefined,
  blockBytes: number,
): AsyncGenerator<TrafficBatch<SharedRequest>> {
  const blocks = new BlockQueue(number, jobs, options)
  const rows = new BlockRows(options.held ?? HELD_LINES, counts, file)
  try {
    const bytes = unpacked(counting(source.open(), options.onBytes))
    for await (const block of lineBlocks(bytes, blockBytes)) {
      blocks.push(block)
      if (blocks.isFull) yield* rows.add(await blocks.next())
    }
  } catch (error) {
    throw unreadableSource(source.name, error)
  }
  if (blocks.isNew) blocks.push(Buffer.from(new ArrayBuffer(0)))
  while (blocks.length > 0) yield* rows.add(await blocks.next())
  blocks.close()
  yield rows.end()
}

/** Blocks of a source that jobs are parsing, in the order of the file. */
class BlockQueue {
  readonly #number: number
  readonly #options: LineOptions<object>
  #jobs: readonly JobLine[]
  #head: readonly (Buffer | undefined)[] | undefined
  readonly #parsing: Promise<TakenBlock>[] = []

  constructor(number: number, jobs: readonly JobLine[], options: LineOptions<object>) {
    this.#number = number
    this.#jobs = jobs
    this.#options = options
  }

  get isNew(): boolean {
    return this.#head === undefined
  }

  get length(): number {
    return this.#parsing.length
  }

  get isFull(): boolean {
    return this.#parsing.length >= this.#jobs.length * BLOCKS_PER_JOB
  }

  /** @throws LabError where the first block says that the file cannot be read */
  push(bytes: Buffer<ArrayBuffer>): void {
    let hasHeader = false
    if (this.#head === undefined) {
      this.#head = headOf(bytes)
      const found = readerOfHead(this.#head, this.#options)
      hasHeader = found.hasHeader
      if (found.reader.followsLines === true) this.#jobs = this.#jobs.slice(0, 1)
    }
    const job = this.#jobs.reduce((a, b) => (b.blocks < a.blocks ? b : a))
    job.blocks++
    const message = { kind: 'parse', source: this.#number, head: this.#head, bytes, hasHeader } as const
    const parsed = job.ask<ParsedBlock>(message, [bytes.buffer]).then((block) => {
      job.blocks--
      return { job, block }
    })
    parsed.catch(() => undefined) // next() tells it
    this.#parsing.push(parsed)
  }

  next(): Promise<TakenBlock> {
    return this.#parsing.shift()!
  }

  close(): void {
    for (const job of this.#jobs) void job.ask({ kind: 'close', source: this.#number })
  }
}

interface TakenBlock {
  readonly job: JobLine
  readonly block: ParsedBlock
}

function headOf(bytes: Buffer): (Buffer | undefined)[] {
  const head: (Buffer | undefined)[] = []
  const take = (line: Buffer | undefined): void => void (head.length < HEAD_LINES && head.push(line))
  const feed = new LineFeed(
    (line, from, to) => take(Buffer.from(line.subarray(from, to))),
    () => take(undefined),
  )
  feed.push(bytes)
  feed.end()
  return head
}

/** What jobs have read, put into order as if one had. */
class BlockRows {
  readonly #sorter: Sorter<SharedRequest>
  readonly #counts: ReadCounts
  readonly #file: string | undefined
  readonly #read = new Map<JobLine, KnownRequests>()
  #lines = 0

  constructor(held: number, counts: ReadCounts, file: string | undefined) {
    this.#sorter = new Sorter(held)
    this.#counts = counts
    this.#file = file
  }

  *add({ job, block }: TakenBlock): Generator<TrafficBatch<SharedRequest>> {
    const { at, duration, ids, fresh, forget, lines, unreadable, shown } = block
    let known = this.#read.get(job)
    if (known === undefined) {
      known = new KnownRequests()
      this.#read.set(job, known)
    }
    known.add(fresh)
    for (let i = 0; i < ids.length; i++) {
      const batch = this.#sorter.push(at[i]!, duration[i]!, known.get(ids[i]!))
      if (batch !== undefined) yield batch
    }
    known.forget(forget)
    this.#counts.requests += ids.length
    for (const { line, reason } of shown)
      this.#counts.skip({
        ...(this.#file !== undefined && { file: this.#file }),
        line: this.#lines + line + 1,
        reason,
      })
    this.#counts.unreadable += unreadable - shown.length
    this.#lines += lines
  }

  end(): TrafficBatch<SharedRequest> {
    const last = this.#sorter.flush()
    this.#counts.late += this.#sorter.late
    return last
  }
}

/** The different requests that a job has read, by their numbers. */
class KnownRequests {
  #requests: SharedRequest[] = []
  /** The number of the first. */
  #first = 0

  add(fresh: ParsedBlock['fresh']): void {
    for (const { request, cost, recorded, part } of fresh)
      this.#requests.push({ request, cost, recorded, part, id: -1, round: -1 })
  }

  get(id: number): SharedRequest {
    return this.#requests[id - this.#first]!
  }

  /** All below a number. */
  forget(below: number): void {
    if (below <= this.#first) return
    this.#requests = this.#requests.slice(below - this.#first)
    this.#first = below
  }
}
