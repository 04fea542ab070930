import { Pool } from 'undici'
import { type LoadAnswer, readCheckAnswer, readHttpAnswer, type TimedAnswer } from './answer.ts'
import type { SentRequest } from './request-template.ts'

/** Pools of own addresses that are kept open. */
const MOST_ADDRESSES = 2_000

export interface SenderOptions {
  /** Answers are those of `POST /v1/check`. Default false: of any HTTP application. */
  readonly isCheck?: boolean | undefined
  /** Most connections at once from one address. */
  readonly connections: number
  /** After which a request has failed. */
  readonly timeoutMs: number
}

/** Never throws: what has no answer has failed. */
export interface LoadSender {
  send(request: SentRequest): Promise<TimedAnswer>
  /** Ends all at once: what is under way has failed. */
  stop(): Promise<void>
}

/**
 * A client of one origin, such as `http://127.0.0.1:3000`.
 * @example
 * const sender = createSender('http://127.0.0.1:3000', { connections: 100, timeoutMs: 10_000 })
 * const { fate, status } = await sender.send({ method: 'GET', path: '/', headers: {} })
 * await sender.stop()
 */
export function createSender(origin: string, options: SenderOptions): LoadSender {
  const pools = new Map<string, Pool>()
  let stopped = false
  const { connections, timeoutMs } = options
  const poolFrom = (from = ''): Pool => {
    if (stopped) throw new Error('stopped')
    let pool = pools.get(from)
    if (pool === undefined) {
      if (pools.size === MOST_ADDRESSES) throw new RangeError(`at most ${MOST_ADDRESSES} addresses`)
      pool = new Pool(origin, {
        connections,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        connect: { timeout: timeoutMs },
        ...(from !== '' && { localAddress: from }),
      })
      pools.set(from, pool)
    }
    return pool
  }
  return {
    async send({ method, path, headers, body, from }) {
      const sent = performance.now()
      let answer: LoadAnswer
      try {
        const {
          statusCode,
          headers: fields,
          body: content,
        } = await poolFrom(from).request({
          method: method as 'GET',
          path,
          headers,
          body: body ?? null,
        })
        if (options.isCheck) answer = readCheckAnswer(statusCode, await content.text())
        else {
          await content.dump()
          answer = readHttpAnswer(statusCode, fields, Date.now())
        }
      } catch {
        answer = { fate: 'failed', status: 0 }
      }
      return { ...answer, sent, received: performance.now() }
    },
    async stop() {
      stopped = true
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}
