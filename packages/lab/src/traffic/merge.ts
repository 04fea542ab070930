import type { ReadCounts } from './read-source.ts'
import type { TrafficBatch } from './traffic-batch.ts'

/** A log that is not open yet. */
export interface Opening<T> {
  /** When it begins, microseconds since the epoch. */
  readonly first: number
  open(): AsyncGenerator<TrafficBatch<T>>
}

interface LogCursor<T> {
  readonly batches: AsyncGenerator<TrafficBatch<T>>
  batch: TrafficBatch<T>
  next: number
}

const MOST_IN_BATCH = 8_192

/** Several logs as one, in the order of their times; of equal ones, in the order of the logs. */
export async function* mergeByTime<T>(
  openings: readonly Opening<T>[],
  counts: Pick<ReadCounts, 'late'>,
): AsyncGenerator<TrafficBatch<T>> {
  const waiting = openings.toSorted((a, b) => a.first - b.first)
  const open: LogCursor<T>[] = []
  let reached = Number.NEGATIVE_INFINITY
  let out = newOut<T>()
  for (;;) {
    const earliest = indexOfEarliest(open)
    const at = earliest < 0 ? Number.POSITIVE_INFINITY : timeOf(open[earliest]!)
    if (waiting.length > 0 && waiting[0]!.first <= at) {
      const cursor = await opened(waiting.shift()!)
      if (cursor !== undefined) open.push(cursor)
      continue
    }
    if (earliest < 0) break
    const cursor = open[earliest]!
    if (at < reached) counts.late++ // a log that begins earlier than its first lines say
    reached = Math.max(reached, at)
    const { batch, next } = cursor
    out.at[out.made.length] = reached
    out.duration[out.made.length] = batch.duration[next]!
    out.made.push(batch.made[next]!)
    if (out.made.length === MOST_IN_BATCH) {
      yield batchOf(out)
      out = newOut()
    }
    cursor.next++
    if (cursor.next < batch.length || (await advanced(cursor))) continue
    open.splice(earliest, 1)
  }
  yield batchOf(out)
}

interface Out<T> {
  readonly at: Float64Array
  readonly duration: Float64Array
  readonly made: T[]
}

function newOut<T>(): Out<T> {
  return { at: new Float64Array(MOST_IN_BATCH), duration: new Float64Array(MOST_IN_BATCH), made: [] }
}

function batchOf<T>({ at, duration, made }: Out<T>): TrafficBatch<T> {
  return { length: made.length, at, duration, made }
}

function indexOfEarliest<T>(open: readonly LogCursor<T>[]): number {
  let best = -1
  for (let i = 0; i < open.length; i++) if (best < 0 || timeOf(open[i]!) < timeOf(open[best]!)) best = i
  return best
}

function timeOf<T>({ batch, next }: LogCursor<T>): number {
  return batch.at[next]!
}

async function opened<T>({ open }: Opening<T>): Promise<LogCursor<T> | undefined> {
  const cursor: LogCursor<T> = {
    batches: open(),
    batch: { length: 0, at: EMPTY, duration: EMPTY, made: [] },
    next: 0,
  }
  return (await advanced(cursor)) ? cursor : undefined
}

const EMPTY: Float64Array = /* @__PURE__ */ new Float64Array(0)

/** Goes on to the next batch that holds anything. */
async function advanced<T>(cursor: LogCursor<T>): Promise<boolean> {
  for (;;) {
    const { done, value } = await cursor.batches.next()
    if (done) return false
    if (value.length === 0) continue
    cursor.batch = value
    cursor.next = 0
    return true
  }
}
