import { Agent, request } from 'node:http'

/** Requests to one Envoy at a rate that does not wait for answers. */
export interface Load {
  /** Answers since the last call. */
  take(): { readonly allowed: number; readonly denied: number; readonly failed: number }
  stop(): void
}

/** Milliseconds between two handfuls of requests. */
const EVERY_MS = 50

/** @param perSecond a multiple of 20 */
export function startLoad(
  port: number,
  perSecond: number,
  headers: Readonly<Record<string, string>> = {},
): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  let count = { allowed: 0, denied: 0, failed: 0 }
  const ask = (): void => {
    const sent = request({ host: '127.0.0.1', port, agent, headers }, (response) => {
      response.resume()
      if (response.statusCode === 200) count.allowed++
      else if (response.statusCode === 429) count.denied++
      else count.failed++
    })
    sent.on('error', () => count.failed++)
    sent.end()
  }
  const timer = setInterval(() => {
    for (let i = 0; i < (perSecond * EVERY_MS) / 1_000; i++) ask()
  }, EVERY_MS)
  return {
    take() {
      const taken = count
      count = { allowed: 0, denied: 0, failed: 0 }
      return taken
    },
    stop() {
      clearInterval(timer)
      agent.destroy()
    },
  }
}
