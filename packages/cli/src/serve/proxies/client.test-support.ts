import { type IncomingHttpHeaders, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** How long it took, in milliseconds. */
  readonly ms: number
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The client's own address, of the loopback network. */
  readonly from?: string
  /** Milliseconds to wait for the answer. */
  readonly patience?: number
}

/** Asks on a connection of its own. Rejects where no answer comes in time. */
export function ask(port: number, asked: Asked = {}): Promise<Answer> {
  const { method = 'GET', path = '/', headers = {}, body, from = '127.0.0.1', patience = 15_000 } = asked
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path,
      headers,
      localAddress: from,
      agent: false,
    } as const
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response
        resolve({ status, headers: received, body: text, ms: performance.now() - began })
      })
    })
    sent.setTimeout(patience, () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Answers one after the other. */
export async function askTimes(count: number, port: number, asked: (i: number) => Asked): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let i = 0; i < count; i++) answers.push(await ask(port, asked(i)))
  return answers
}
