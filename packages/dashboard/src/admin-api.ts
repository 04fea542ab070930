/** For this page alone: others of the same origin may have tokens of their own. */
const STORED = `sluice-admin-token:${location.pathname}`

/** The service refused a call, in its words. */
export class RefusedCall extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Calls of the address that the page came from; their paths are relative to the page. */
export class AdminApi {
  #token = sessionStorage.getItem(STORED) ?? ''

  useToken(token: string): void {
    this.#token = token
    sessionStorage.setItem(STORED, token)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape of what it asks for
  async get(path: string): Promise<any> {
    return (await this.#fetch(path)).json()
  }

  async post(path: string, body: object): Promise<void> {
    await this.#fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  }

  /** Reads server-sent events until the stream ends. EventSource could not send the token. */
  async stream(path: string, seen: (event: string, data: unknown) => void): Promise<void> {
    const { body } = await this.#fetch(path, { headers: { accept: 'text/event-stream' } })
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value
      const events = text.split('\n\n')
      text = events.pop()!
      for (const each of events) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(each) ?? []
        if (event !== undefined) seen(event, JSON.parse(data!))
      }
    }
  }

  async #fetch(path: string, request: RequestInit = {}): Promise<Response> {
    const headers = new Headers(request.headers)
    if (this.#token !== '') headers.set('authorization', `Bearer ${this.#token}`)
    const response = await fetch(path, { ...request, headers })
    if (response.ok) return response
    const problem = await response.json().catch(() => ({}))
    throw new RefusedCall(response.status, problem.detail ?? `the service answers ${response.status}`)
  }
}
