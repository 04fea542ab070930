/** What hears of a body as it is read. */
export interface BodyWatcher {
  chunk(bytes: Uint8Array): void
  /** Once. @param complete whether it came to its end: else it was left, or cut */
  end(complete: boolean): void
}

/** The same answer, whose body is watched while it is read. Nothing is read ahead. */
export function watchedBody(answer: Response, watcher: BodyWatcher): Response {
  const reader = answer.body!.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) {
            watcher.end(true)
            controller.close()
          } else {
            watcher.chunk(value)
            controller.enqueue(value)
          }
        } catch (error) {
          watcher.end(false)
          controller.error(error)
        }
      },
      cancel(reason) {
        watcher.end(false)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  const { status, statusText, headers, url, redirected } = answer
  const watched = new Response(body, { status, statusText, headers })
  // What only the platform can set otherwise.
  Object.defineProperties(watched, { url: { value: url }, redirected: { value: redirected } })
  return watched
}
