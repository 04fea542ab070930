import type { OutboundCost } from './outbound-request.ts'
import type { UsageOfPart } from './usage.ts'

/** Characters of a body, or of one line of a stream, that are read; of what is longer the estimate stands. */
const MOST_CHARACTERS = 4_000_000

/** Reads the actual cost from an answer's body as it goes by. */
export interface AnswerParts {
  add(chunk: Uint8Array): void
  /** The actual cost, as far as it is known. @param complete whether the body came to its end */
  end(complete: boolean): OutboundCost | undefined
}

/**
 * The parts of a body of this content type: JSON, or events; `undefined` for others.
 * @param contentType the header's value
 */
export function answerParts(
  contentType: string | null | undefined,
  read: UsageOfPart,
): AnswerParts | undefined {
  if (/^text\/event-stream\b/i.test(contentType ?? '')) return eventParts(read)
  return /\bjson\b/i.test(contentType ?? '') ? jsonParts(read) : undefined
}

function jsonParts(read: UsageOfPart): AnswerParts {
  const decoder = new TextDecoder()
  let text: string | undefined = ''
  return {
    add(chunk) {
      if (text === undefined) return
      text += decoder.decode(chunk, { stream: true })
      if (text.length > MOST_CHARACTERS) text = undefined
    },
    end: (complete) => (complete && text !== undefined ? readPart(text + decoder.decode(), read) : undefined),
  }
}

function eventParts(read: UsageOfPart): AnswerParts {
  const decoder = new TextDecoder()
  let line = ''
  let known: OutboundCost | undefined
  const addLine = (text: string): void => {
    const [, data] = /^data: ?(.*)$/s.exec(text) ?? []
    if (data !== undefined) known = readPart(data, read) ?? known
  }
  return {
    add(chunk) {
      const lines = (line + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/)
      line = lines.pop()!
      if (line.length > MOST_CHARACTERS) line = ''
      for (const each of lines) addLine(each)
    },
    end() {
      addLine(line)
      return known
    },
  }
}

/** @param part JSON, as text or read already */
export function readPart(part: unknown, read: UsageOfPart): OutboundCost | undefined {
  try {
    return read(typeof part === 'string' ? JSON.parse(part) : part)
  } catch {
    return undefined // such as [DONE]
  }
}
