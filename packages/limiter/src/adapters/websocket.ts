import type { IncomingMessage } from 'node:http'
import type { RawData, WebSocket } from 'ws'
import { anyOf, func, type OptionFields, oneOf } from '../core/options.ts'
import { createGate } from './gate/gate.ts'
import { anew, incomingRequestOf, type RateLimitInfo } from './gate/hosts/node-http.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { GateOptions } from './gate/options/options.ts'
import { withoutOutcomes } from './gate/options/settings.ts'
import { retryAfterOf, type Verdict } from './gate/verdict/verdict.ts'

export type { RateLimitInfo }

type WebSocketArgs = [socket: WebSocket, request: IncomingMessage, data: RawData]

export interface WebSocketOptions extends GateOptions<WebSocketArgs> {
  /**
   * What becomes of a message over the limit: the socket is closed with 1008, with the wait as its reason (default),
   * or the message is dropped, or a function decides.
   */
  readonly onRefused?: 'close' | 'drop' | ((socket: WebSocket, info: RateLimitInfo) => void)
}

const OWN: OptionFields<Omit<WebSocketOptions, keyof GateOptions<WebSocketArgs>>> = {
  onRefused: anyOf(oneOf('close', 'drop'), func),
}

type Listener = (data: RawData, isBinary: boolean, info: RateLimitInfo) => void

/**
 * Limits the messages of sockets of `ws`: call it with each new connection in place of `socket.on('message', …)`.
 * The request that opened the socket says who the caller is. When a function of the options throws, the socket is
 * closed with 1011.
 * @throws ConfigError for invalid options
 * @example
 * const limit = rateLimit({ algorithm: 'token-bucket', limit: 5, period: '1s', burst: 20 })
 * new WebSocketServer({ server }).on('connection', (socket, request) => {
 *   limit(socket, request, (data) => socket.send(`you said ${data}`))
 * })
 */
export function rateLimit<const Text extends string = string>(
  options: WebSocketOptions & CheckedDurations<Text>,
): (socket: WebSocket, request: IncomingMessage, listener: Listener) => void {
  const gate = createGate<WebSocketArgs>(options, OWN)
  withoutOutcomes(options)
  const { onRefused = 'close', logger = console } = options
  const refuse = (socket: WebSocket, verdict: Verdict): void => {
    const { info, refusal } = verdict
    if (typeof onRefused === 'function') onRefused(socket, info)
    else if (onRefused === 'close') {
      const wait = retryAfterOf(verdict)
      socket.close(
        refusal?.status === 503 ? 1013 : 1008,
        wait === undefined ? 'rate limit' : `rate limit: retry after ${wait} s`,
      )
    }
  }
  return (socket, request, listener) => {
    const opened = anew(incomingRequestOf<[]>(request, []))
    const closed = new AbortController()
    socket.once('close', () => closed.abort())
    const limiter = async (data: RawData, isBinary: boolean): Promise<void> => {
      const verdict = await gate.enter({ ...opened, args: [socket, request, data], request: {} })
      if (!(await verdict.wait(closed.signal)) || socket.readyState !== socket.OPEN) return
      if (verdict.refusal !== undefined) refuse(socket, verdict)
      else listener(data, isBinary, verdict.info)
    }
    socket.on('message', (data, isBinary) => {
      limiter(data, isBinary).catch((error) => {
        logger.error(`rate limit: a message could not be judged (${String(error)})`)
        socket.close(1011)
      })
    })
  }
}
