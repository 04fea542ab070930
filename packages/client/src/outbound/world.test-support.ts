import { createLimiter, type Limiter, type LimiterPolicy, MemoryStore } from '@sluice/limiter'
import type { Event } from '@sluice/limiter/events'
import { FakeClock, FakeTimers } from '@sluice/limiter/testing'
import { type LimitedFetch, outbound } from './outbound.ts'
import type { OutboundOptions } from './outbound-options.ts'

/** What a server did with one call. */
interface Arrival {
  readonly at: number
  readonly url: string
  readonly status: number
  readonly init: RequestInit | undefined
}

export type Answering = (
  url: string,
  arrival: { readonly at: number; readonly n: number },
  init: RequestInit,
) => Response | Promise<Response>

export interface FakeWorld {
  readonly clock: FakeClock
  readonly timers: FakeTimers
  readonly arrivals: Arrival[]
  readonly events: Event[]
  nowMs(): number
  limiterOf(policies: Readonly<Record<string, LimiterPolicy>>): Limiter<string, false, string>
  limited(options?: OutboundOptions): LimitedFetch
  sleep(ms: number): Promise<void>
  run(ms: number): Promise<void>
}

/** A world whose time moves only by `run`: a clock, a limiter of it, and a server that is called through `outbound`. */
export function fakeWorld(answer: Answering = () => new Response('ok')): FakeWorld {
  const clock = new FakeClock()
  const start = clock.now()
  const timers = new FakeTimers(clock)
  const nowMs = (): number => (clock.now() - start) / 1_000
  const arrivals: Arrival[] = []
  let sent = 0
  const events: Event[] = []
  const send = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
    const at = nowMs()
    const response = await answer(String(input), { at, n: sent++ }, init ?? {})
    arrivals.push({ at, url: String(input), status: response.status, init })
    return response
  }
  const limiterOf = (policies: Readonly<Record<string, LimiterPolicy>>): Limiter<string, false, string> =>
    createLimiter({ store: new MemoryStore({ clock }), policies }) as Limiter<string, false, string>
  const limited = (options: OutboundOptions = {}): LimitedFetch =>
    outbound(send, { clock, timers, observe: (event) => void events.push(event), ...options })
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void timers.setTimeout(resolve, ms))
  return { clock, timers, nowMs, arrivals, events, limiterOf, limited, sleep, run: (ms) => timers.run(ms) }
}

/** What became of a promise, in words: `200`, or the error's name. */
export async function outcomeOf(call: Promise<Response>): Promise<string> {
  return call.then(
    ({ status }) => String(status),
    (error) => error?.name ?? String(error),
  )
}
