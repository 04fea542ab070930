/** Bytes of an answer that are read for the sake of its connection; the rest costs more than a new connection. */
const MAX_BYTES = 65_536

/**
 * Reads what nobody wants of an answer, so that its connection can be used again; a long answer is cut off.
 * @returns cuts off what has not come yet
 */
export function discard(response: Pick<Response, 'body'>): () => void {
  const reader = response.body?.getReader()
  if (reader === undefined) return () => undefined
  const cut = (): void => void reader.cancel().catch(() => undefined)
  void readUpTo(reader, MAX_BYTES).then(
    (whole) => whole || cut(),
    () => undefined,
  )
  return cut
}

async function readUpTo(reader: ReadableStreamDefaultReader<Uint8Array>, bytes: number): Promise<boolean> {
  for (let left = bytes; left > 0; ) {
    const { done, value } = await reader.read()
    if (done) return true
    left -= value.byteLength
  }
  return false
}
