import { checkOptions, objectOf, textCheck, wholeFrom } from '@sluice/limiter/options'
import type { OutboundCost, OutboundRequest } from './outbound-request.ts'

/** What a part of an answer says of the call's actual cost so far; `undefined`: nothing new. */
export type UsageOfPart = (part: unknown) => OutboundCost | undefined

/**
 * Makes a reader for one answer: it is called with the JSON of the whole body, or of a stream of events
 * (`text/event-stream`) with that of each event. What it said last is the actual cost, also where the stream is left.
 */
export type UsageReader = (request: OutboundRequest) => UsageOfPart

export interface ModelTokensOptions {
  /** The policy that counts tokens. Default `tokens`. */
  readonly policy?: string
  /** Tokens of an answer, where a request does not limit them. Default 1,024. */
  readonly maxTokens?: number
}

const OPTIONS = /* @__PURE__ */ objectOf<ModelTokensOptions>({
  policy: textCheck,
  maxTokens: /* @__PURE__ */ wholeFrom(0),
})

/** Characters of text that are about one token. */
const CHARACTERS = 4

/**
 * Tokens of a language model as a cost: what a request may use at most, and what its answer says that it used: `usage`
 * of the APIs of OpenAI, Anthropic and those like them, in JSON and at the end of streams. Of a stream that is left
 * before, the prompt and one token for each event.
 * @throws ConfigError for options that are wrong
 * @example
 * const destination = { origin: 'https://api.example.com', limiter, ...modelTokens({ policy: 'tokens' }) }
 */
export function modelTokens(options: ModelTokensOptions = {}): {
  readonly cost: (request: OutboundRequest) => OutboundCost
  readonly usage: UsageReader
} {
  checkOptions(options, OPTIONS)
  const { policy = 'tokens', maxTokens = 1_024 } = options
  return {
    cost(request) {
      const { max_tokens, max_completion_tokens, max_output_tokens } = bodyOf(request)
      const most = [max_completion_tokens, max_output_tokens, max_tokens].find(isCount) ?? maxTokens
      return { [policy]: promptTokens(request) + most }
    },
    usage(request) {
      let input = promptTokens(request)
      let output = 0
      return (part) => {
        const { usage, message, response } = fieldsOf(part)
        const told = fieldsOf(usage ?? fieldsOf(message).usage ?? fieldsOf(response).usage)
        const read = sumOf(told, [
          'prompt_tokens',
          'input_tokens',
          'cache_creation_input_tokens',
          'cache_read_input_tokens',
        ])
        const written = sumOf(told, ['completion_tokens', 'output_tokens'])
        if (read > 0) input = read
        output = written > 0 ? Math.max(output, written) : output + 1
        return { [policy]: isCount(told.total_tokens) ? told.total_tokens : input + output }
      }
    },
  }
}

function promptTokens({ body }: OutboundRequest): number {
  return typeof body === 'string' ? Math.ceil(body.length / CHARACTERS) : 0
}

function bodyOf({ body }: OutboundRequest): Readonly<Record<string, unknown>> {
  if (typeof body !== 'string') return {}
  try {
    return fieldsOf(JSON.parse(body))
  } catch {
    return {} // not JSON: the server will say so
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function sumOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (isCount(fields[name]) ? fields[name] : 0), 0)
}
