import type { LineOptions } from './line-maker.ts'
import { mergeByTime, type Opening } from './merge.ts'
import { ReadCounts, readSource } from './read-source.ts'
import type { TrafficSource } from './source.ts'
import type { TrafficBatch } from './traffic-batch.ts'

/** Requests of a log that are looked at to see when it begins. */
const FIRST_LINES = 1_000

/** Reads one log, as {@link readSource}. */
export type ReadOne<T> = (source: TrafficSource, file: string | undefined) => AsyncGenerator<TrafficBatch<T>>

/**
 * The requests of several logs as one, in the order of their times. A log is opened when the times of those before it
 * have come to its own, so that of rotated files few are open at once.
 * @throws LabError as {@link readSource}
 */
export async function* readTraffic<T extends object>(
  sources: readonly TrafficSource[],
  options: LineOptions<T>,
  counts: ReadCounts,
): AsyncGenerator<TrafficBatch<T>> {
  yield* readInOrder(sources, options, counts, (source, file) => readSource(source, options, counts, file))
}

/** The same, with each log read in another way. */
export async function* readInOrder<T>(
  sources: readonly TrafficSource[],
  options: Omit<LineOptions<object>, 'onLine'>,
  counts: ReadCounts,
  read: ReadOne<T>,
): AsyncGenerator<TrafficBatch<T>> {
  if (sources.length === 1) return yield* read(sources[0]!, undefined)
  const openings: Opening<T>[] = []
  for (const source of sources) {
    openings.push({
      first: source.isRepeatable ? await firstInstant(source, options) : Number.NEGATIVE_INFINITY,
      open: () => read(source, source.name),
    })
  }
  yield* mergeByTime(openings, counts)
}

/** The earliest time among the first lines of a log, in microseconds. */
async function firstInstant(
  source: TrafficSource,
  options: Omit<LineOptions<object>, 'onLine'>,
): Promise<number> {
  const looking = { ...options, held: FIRST_LINES, onBytes: undefined, onLine: undefined }
  for await (const batch of readSource(source, looking, new ReadCounts())) {
    if (batch.length > 0) return batch.at[0]!
  }
  return Number.POSITIVE_INFINITY
}
