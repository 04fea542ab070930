import { bench, type ServiceBench } from '../../../service/src/testing.ts'
import type { FetchFunction } from '../retry/retrying.ts'

/** A service without sockets, in fake time, and a `fetch` that reaches it. */
export interface ServiceInProcess extends ServiceBench {
  readonly fetch: FetchFunction
  /** What was sent: path and body. */
  readonly sent: { readonly path: string; readonly body: string; readonly headers: Headers }[]
  /** In place of the service, while it is set. */
  broken: ((signal: AbortSignal) => Promise<Response>) | undefined
  /** Monotonic milliseconds by the service's own clock. */
  readonly now: () => number
}

export async function serviceInProcess(rulebook: string): Promise<ServiceInProcess> {
  const served = await bench(rulebook)
  const sent: ServiceInProcess['sent'] = []
  const service: ServiceInProcess = {
    ...served,
    sent,
    broken: undefined,
    now: () => served.clock.now() / 1_000,
    async fetch(url, { body, headers, signal } = {}) {
      const path = String(url).slice('http://service'.length)
      sent.push({ path, body: String(body), headers: new Headers(headers) })
      if (service.broken !== undefined) return service.broken(signal!)
      const response = await served.http.inject({
        method: 'POST',
        url: path,
        headers: Object.fromEntries(new Headers(headers)),
        payload: String(body),
      })
      const text = response.statusCode === 204 ? null : response.payload
      return new Response(text, {
        status: response.statusCode,
        headers: { 'content-type': String(response.headers['content-type']) },
      })
    },
  }
  return service
}
