import { Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { honoRateLimiterStore } from './hono-rate-limiter.ts'

it('in hono-rate-limiter, T11: of two requests at once the first passes, at a limit of one', async () => {
  const clock = new FakeClock()
  const app = new Hono()
  app.use(
    rateLimiter({
      windowMs: 60_000,
      limit: 1,
      keyGenerator: () => 'k',
      store: honoRateLimiterStore({ name: 'n', store: new MemoryStore({ clock }) }),
    }),
  )
  app.get('/', (c) => c.text('ok'))
  const both = await Promise.all([app.request('/'), app.request('/')])
  expect(both.map(({ status }) => status)).toEqual([200, 429])
  expect(both[0]!.headers.get('ratelimit-remaining')).toBe('0')
  clock.advance(60_000)
  expect((await app.request('/')).status).toBe(200)
})
