import { webSink } from '../admin/event-streams.ts'
import { type DashboardAnswer, type DashboardRequest, jsonOf, pathBelow } from './dashboard-request.ts'
import { folderOf } from './node-handler.ts'

export type FetchHandler = (request: Request) => Promise<Response>

/** @param place where the dashboard is, if the URL of requests says so */
export function fetchHandler(
  answer: (request: DashboardRequest) => Promise<DashboardAnswer | undefined>,
  place: string,
): FetchHandler {
  return async (request) => {
    const url = new URL(request.url)
    const path = pathBelow(url.pathname, place)
    if (path === '') return new Response(null, { status: 302, headers: { location: folderOf(url.pathname) } })
    let stream: Response | undefined
    const given = await answer({
      method: request.method,
      path: path ?? url.pathname,
      query: url.searchParams,
      // Of HTTP/2, and in tests, a request may have no such header: its URL is what it was sent to.
      header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
      json: () => jsonOf(request.body ?? emptyBody()),
      open(headers) {
        const { sink, response } = webSink(headers)
        stream = response
        return sink
      },
    })
    if (given === undefined) return stream!
    const { status, headers, body } = given
    return new Response(request.method === 'HEAD' ? null : body, { status, headers })
  }
}

async function* emptyBody(): AsyncIterable<Uint8Array> {}
