import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeSink } from '../admin/event-streams.ts'
import { type DashboardAnswer, type DashboardRequest, jsonOf, pathBelow } from './dashboard-request.ts'

/** Frameworks over `node:http` cut off the part of the path where something is mounted, and keep the whole. */
type MountedRequest = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown }

export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void

/** @param place where the dashboard is, if the URL of requests says so */
export function nodeHandler(
  answer: (request: DashboardRequest) => Promise<DashboardAnswer | undefined>,
  place: string,
): NodeHandler {
  return (request: MountedRequest, response, next) => {
    const { url = '/', headers } = request
    const [own, query] = url.split(/\?(.*)/s) as [string, string | undefined]
    const path = pathBelow(own, place)
    if (path === undefined && next !== undefined) return next()
    const whole = (request.originalUrl ?? url).replace(/\?.*/s, '')
    if (path !== undefined && path.length < 2 && !whole.endsWith('/')) return toFolder(response, whole)
    const asked: DashboardRequest = {
      method: request.method ?? 'GET',
      path: path ?? own,
      query: new URLSearchParams(query),
      // HTTP/2 has the name of the host elsewhere.
      header: (name) =>
        (headers[name] ?? (name === 'host' ? headers[':authority'] : undefined)) as string | undefined,
      // Where a parser of the app has read the body, it has left what it found.
      json: async () =>
        request.readableEnded && request.body !== undefined
          ? request.body
          : jsonOf(request.iterator({ destroyOnReturn: false })),
      open: (headers) => nodeSink(response, headers),
    }
    void answer(asked).then((given) => {
      if (given === undefined || response.headersSent) return
      response.writeHead(given.status, { ...given.headers, 'content-length': Buffer.byteLength(given.body) })
      response.end(asked.method === 'HEAD' ? undefined : given.body)
      request.resume() // the rest of a body that was too long, or the connection could not be used again
    })
  }
}

/** The page names its files, and calls, from the folder that it is in. */
function toFolder(response: ServerResponse, path: string): void {
  response.writeHead(302, { location: folderOf(path) })
  response.end()
}

/** Relative, since whatever stands in front may have cut off more; `./`, since a name may have a colon. */
export function folderOf(path: string): string {
  return `./${path.slice(path.lastIndexOf('/') + 1)}/`
}
