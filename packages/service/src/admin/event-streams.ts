import type { FastifyReply } from 'fastify'
import { HttpError } from '../problem.ts'

/** Streams at once; a page has one or two. */
const MOST_STREAMS = 32
/** Bytes that may wait for one reader: more, and it is dropped. */
const MOST_WAITING = 1_048_576

/** What is sent at a tick, if anything: made by {@link eventText}. */
export type Ticked = (tick: number) => string | undefined

/** An event as server-sent events write it. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/**
 * Answers that go on: server-sent events, of which each stream gets some at every tick. Streams are bounded, and so is
 * what waits in each: whoever reads too slowly is cut off, and may come again.
 */
export class EventStreams {
  readonly #streams = new Map<FastifyReply['raw'], Ticked>()
  #ticks = 0
  #closed = false

  /**
   * @param first what is sent at once
   * @throws HttpError where there are too many streams, or the service is stopping
   */
  add(reply: FastifyReply, first: string, ticked: Ticked): void {
    if (this.#closed || this.#streams.size >= MOST_STREAMS)
      throw new HttpError(503, 'there are too many streams of live figures: close another one')
    const { raw } = reply
    const headers = reply.getHeaders() as Record<string, string>
    reply.hijack()
    raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    raw.once('close', () => this.#streams.delete(raw))
    this.#streams.set(raw, ticked)
    raw.write(`retry: 2000\n\n${first}`)
  }

  tick(): void {
    const tick = ++this.#ticks
    for (const [raw, ticked] of this.#streams) {
      if (raw.writableLength > MOST_WAITING) raw.destroy()
      else {
        const text = ticked(tick)
        if (text !== undefined) raw.write(text)
      }
    }
  }

  get size(): number {
    return this.#streams.size
  }

  /** Ends all, and takes no more. */
  close(): void {
    this.#closed = true
    for (const raw of this.#streams.keys()) raw.end()
  }
}
