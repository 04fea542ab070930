import { MAX_LINE } from '../traffic/line-feed.ts'
import { HEAD_LINES } from '../traffic/line-maker.ts'

const LINE_FEED = 10

/**
 * Bytes cut into blocks of whole lines, each in memory of its own, which can be given to another thread. The first has no
 * fewer lines than the format is seen from. Of a line that is longer than {@link MAX_LINE}, so much is kept that it is
 * seen to be.
 * @param size bytes of a block, about
 */
export async function* lineBlocks(
  bytes: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  let parts: Buffer[] = []
  let length = 0
  let isFirst = true
  for await (const chunk of bytes) {
    parts.push(chunk)
    length += chunk.length
    if (length < size) continue
    const block = joined(parts, length)
    const end = block.lastIndexOf(LINE_FEED) + 1
    const rest = block.subarray(end, Math.min(block.length, end + MAX_LINE + 2))
    const lines = block.subarray(0, end)
    if (end === 0 || (isFirst && !isHead(lines))) parts = [lines, rest]
    else {
      isFirst = false
      parts = [Buffer.from(rest)]
      yield lines
    }
    length = parts.reduce((sum, part) => sum + part.length, 0)
  }
  if (length > 0) yield joined(parts, length)
}

function joined(parts: readonly Buffer[], length: number): Buffer<ArrayBuffer> {
  const block = Buffer.from(new ArrayBuffer(length))
  let at = 0
  for (const part of parts) at += part.copy(block, at)
  return block
}

function isHead(lines: Buffer): boolean {
  let count = 0
  for (
    let at = lines.indexOf(LINE_FEED);
    at >= 0 && count < HEAD_LINES;
    at = lines.indexOf(LINE_FEED, at + 1)
  )
    count++
  return count === HEAD_LINES
}
