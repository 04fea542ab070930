/** Most bytes of an answer: of 1,000 decisions, each by several policies, and then some. */
const MOST_BYTES = 32 * 1_024 * 1_024

/** The whole body as text. @throws RangeError for one that is too large; it is not read to its end */
export async function bodyText({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength
    if (bytes > MOST_BYTES) {
      void reader.cancel().catch(() => undefined)
      throw new RangeError(`the answer has more than ${MOST_BYTES} bytes`)
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}
