import { SingleBar } from 'cli-progress'
import type { Input } from './input.ts'
import type { Output } from './io.ts'

/** The bytes of `input`, with a bar on a terminal that shows how many of them have gone by. */
export async function* withProgress({ bytes, size }: Input, terminal: Output): AsyncGenerator<Buffer> {
  if (terminal.isTTY !== true || size === undefined || size === 0)
    return yield* bytes as AsyncIterable<Buffer>
  const bar = new SingleBar({
    stream: terminal as NodeJS.WritableStream,
    format: '{bar} {percentage} %',
    clearOnComplete: true,
  })
  bar.start(size, 0)
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      bar.increment(chunk.length)
      yield chunk
    }
  } finally {
    bar.stop()
  }
}
