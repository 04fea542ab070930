import type { ServerResponse } from 'node:http'
import { HttpError } from './problem.ts'

/** Streams at once; a page has one or two. */
const MOST_STREAMS = 32
/** Bytes that may wait for one reader: more, and it is dropped. */
const MOST_WAITING = 1_048_576
/** Nothing on the way may keep it or change it, or wait for its end to compress it. */
const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' }

/** Where an answer that goes on is written. */
export interface StreamSink {
  /** Bytes that its reader has not taken yet. */
  readonly waiting: number
  write(text: string): void
  end(): void
  /** Ends it in the middle. */
  cut(): void
  /** Calls back when nobody reads any more. */
  onceClosed(closed: () => void): void
}

/** What a stream sends. */
export interface EventSource {
  /** At once: made by {@link eventText}. */
  readonly first: string
  /** At a tick, if anything. */
  readonly ticked: (tick: number) => string | undefined
}

/**
 * An event as server-sent events write it.
 * @example
 * eventText('second', { allowed: 3 }) // 'event: second\ndata: {"allowed":3}\n\n'
 */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/**
 * Answers that go on: server-sent events, of which each stream gets some at every tick. Streams are bounded, and so is
 * what waits in each: whoever reads too slowly is cut off, and may come again.
 * @example
 * const streams = new EventStreams()
 * streams.add(() => nodeSink(response), { first: '', ticked: (tick) => eventText('tick', tick) })
 * setInterval(() => streams.tick(), 1_000)
 */
export class EventStreams {
  readonly #streams = new Map<StreamSink, EventSource['ticked']>()
  #ticks = 0
  #closed = false

  /**
   * @param open begins the answer
   * @throws HttpError where there are too many streams, or they are closed
   */
  add(open: () => StreamSink, { first, ticked }: EventSource): void {
    if (this.#closed || this.#streams.size >= MOST_STREAMS)
      throw new HttpError(503, 'there are too many streams of live figures: close another one')
    const sink = open()
    this.#streams.set(sink, ticked)
    sink.onceClosed(() => this.#streams.delete(sink))
    sink.write(`retry: 2000\n\n${first}`)
  }

  tick(): void {
    const tick = ++this.#ticks
    for (const [sink, ticked] of this.#streams) {
      if (sink.waiting > MOST_WAITING) sink.cut()
      else {
        const text = ticked(tick)
        if (text !== undefined) sink.write(text)
      }
    }
  }

  get size(): number {
    return this.#streams.size
  }

  /** Ends all, and takes no more. */
  close(): void {
    this.#closed = true
    for (const sink of this.#streams.keys()) sink.end()
  }
}

/**
 * A stream as the answer of a server of `node:http`.
 * @param headers beside its own
 * @example
 * streams.add(() => nodeSink(response), source)
 */
export function nodeSink(
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): StreamSink {
  response.writeHead(200, { ...headers, ...HEADERS })
  return {
    get waiting() {
      return response.writableLength
    },
    write: (text) => void response.write(text),
    end: () => void response.end(),
    cut: () => void response.destroy(),
    onceClosed(closed) {
      if (response.closed)
        closed() // whoever asked may have left before
      else response.once('close', closed)
    },
  }
}

/** A stream as a Response of the Fetch standard. */
export function webSink(headers: Readonly<Record<string, string>>): {
  readonly sink: StreamSink
  readonly response: Response
} {
  const encoder = new TextEncoder()
  let closed = (): void => undefined
  let controller: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own
      },
      cancel: () => closed(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
  const over = (end: () => void) => (): void => {
    end()
    closed()
  }
  const sink: StreamSink = {
    get waiting() {
      return -(controller.desiredSize ?? 0)
    },
    write: (text) => controller.enqueue(encoder.encode(text)),
    end: over(() => controller.close()),
    cut: over(() => controller.error(new Error('the stream was read too slowly'))),
    onceClosed: (callback) => {
      closed = callback
    },
  }
  return { sink, response: new Response(body, { headers: { ...headers, ...HEADERS } }) }
}
