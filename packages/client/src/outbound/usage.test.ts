import { describe, expect, it } from 'vitest'
import { modelTokens } from './usage.ts'
import { fakeWorld } from './world.test-support.ts'

const API = 'https://api.example.com'
const minute = { algorithm: 'token-bucket', limit: 100_000, period: '1m' } as const
const encoder = new TextEncoder()

/** A stream of events, which the test sends one by one. */
function stream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own
    },
  })
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }),
    send: (...events: unknown[]) =>
      events.forEach((event) => {
        controller!.enqueue(
          encoder.encode(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`),
        )
      }),
    end: () => controller!.close(),
    cut: () => controller!.error(new TypeError('terminated')),
  }
}

function setUp(answer: () => Response) {
  const world = fakeWorld(answer)
  const limiter = world.limiterOf({ tokens: minute })
  const fetch = world.limited({ destinations: [{ limiter, ...modelTokens() }] })
  const used = () => 100_000 - limiter.peek('api.example.com', { cost: 0 }).remaining
  const ask = (body: object) => fetch(`${API}/v1/chat`, { method: 'POST', body: JSON.stringify(body) })
  return { ...world, fetch, used, ask }
}

describe('Acceptance 5.3: tokens of a model', () => {
  it('are reserved as the request asks, and settled by the usage of the answer', async () => {
    const { ask, used } = setUp(() =>
      Response.json({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 } }),
    )
    const answer = await ask({ max_tokens: 500, messages: [] })
    expect(used()).toBe(500 + Math.ceil('{"max_tokens":500,"messages":[]}'.length / 4))
    expect(await answer.json()).toMatchObject({ usage: { total_tokens: 42 } })
    expect(used()).toBe(42)
  })

  it('are settled at the end of a stream', async () => {
    const events = stream()
    const { ask, used } = setUp(() => events.response)
    const answer = await ask({ max_tokens: 500, stream: true })
    events.send(
      { choices: [{ delta: { content: 'a' } }] },
      { choices: [], usage: { total_tokens: 77 } },
      '[DONE]',
    )
    events.end()
    expect(await answer.text()).toContain('[DONE]')
    expect(used()).toBe(77)
  })

  it('are those of input and output where a stream tells them apart', async () => {
    const events = stream()
    const { ask, used } = setUp(() => events.response)
    const answer = await ask({ max_tokens: 500 })
    events.send(
      { type: 'message_start', message: { usage: { input_tokens: 25, output_tokens: 1 } } },
      { type: 'content_block_delta', delta: { text: 'a' } },
      { type: 'message_delta', usage: { output_tokens: 15 } },
    )
    events.end()
    await answer.text()
    expect(used()).toBe(40)
  })

  it.each(['left by the reader', 'cut by the server'])(
    'of a stream that is %s are those counted so far',
    async (how) => {
      const events = stream()
      const { ask, used } = setUp(() => events.response)
      const body = { max_tokens: 500, stream: true }
      const answer = await ask(body)
      const reader = answer.body!.getReader()
      for (let i = 0; i < 7; i++) {
        events.send({ choices: [{ delta: { content: 'a' } }] })
        await reader.read()
      }
      if (how === 'left by the reader') await reader.cancel()
      else {
        events.cut()
        await expect(reader.read()).rejects.toThrow('terminated')
      }
      expect(used()).toBe(7 + Math.ceil(JSON.stringify(body).length / 4))
    },
  )

  it.each([
    ['no JSON', new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['broken JSON', new Response('{"usage":', { headers: { 'content-type': 'application/json' } })],
    ['no body', new Response(null, { status: 204 })],
  ])('stay as they were estimated where the answer has %s', async (_, response) => {
    const { ask, used } = setUp(() => response)
    const answer = await ask({ max_tokens: 500 })
    await answer.text()
    expect(used()).toBe(505)
  })
})

it('Acceptance 5.2: in money: the vendor’s prices never come to more than the month’s budget', async () => {
  const PRICES: Readonly<Record<string, number>> = { '/v1/chat': 1_500_000, '/v1/embed': 20_000 }
  const { limited, limiterOf, arrivals, clock } = fakeWorld()
  // 50 EUR, in millionths
  const limiter = limiterOf({
    money: {
      algorithm: 'fixed-window',
      limit: 50_000_000,
      period: { calendar: 'month', zone: 'Europe/Paris' },
    },
  })
  const fetch = limited({
    destinations: [{ limiter, onLimit: 'reject', cost: ({ url }) => ({ money: PRICES[url.pathname]! }) }],
  })
  const spent = () => arrivals.reduce((sum, { url }) => sum + PRICES[new URL(url).pathname]!, 0)
  const spend = async () => {
    for (let i = 0; i < 200; i++) {
      const path = i % 5 === 0 ? '/v1/chat' : '/v1/embed'
      await fetch(`${API}${path}`).catch(() => undefined)
    }
    for (let i = 0; i < 3_000; i++) await fetch(`${API}/v1/embed`).catch(() => undefined)
  }
  await spend()
  expect(spent()).toBe(50_000_000)
  clock.set(Date.UTC(2026, 0, 31, 22, 59) * 1_000) // 23:59 in Paris
  await expect(fetch(`${API}/v1/embed`)).rejects.toMatchObject({ retryAfterMs: 60_000 })
  clock.advance(60_000)
  await spend()
  expect(spent()).toBe(100_000_000)
})
