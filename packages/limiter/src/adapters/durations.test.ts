import { describe, expect, it } from 'vitest'
import { rateLimit as express } from './express.ts'
import { rateLimit as fetchLimit } from './fetch.ts'
import { rateLimit as graphql } from './graphql.ts'
import { rateLimit as hono } from './hono.ts'
import { rateLimit as koa } from './koa.ts'
import { Throttle } from './nest.ts'
import { rateLimit as node } from './node.ts'
import { rateLimit as websocket } from './websocket.ts'

const key = (): string => 'ada'

describe('durations as literals', () => {
  it('compile where they are durations', () => {
    const text: string = '15m'
    express({ limit: 1, period: '15m', tarpit: '2s', key: (request) => request.get('x-user') })
    express({ limit: 1, period: text })
    express({ limit: 1, period: { calendar: 'day' } })
    express({ limit: 1, windowMs: 60_000 })
    koa({ policies: { a: { limit: 1, period: '1h' }, b: { limit: 2, period: 'day' } } })
    hono({ limit: 1, period: '1 hour', plan: () => 'pro', plans: { pro: { limit: 2, period: '2 hours' } } })
    node({ limit: 1, period: '1m', block: { after: 2, within: '1m', for: '1h' } })
    fetchLimit({ limit: 1, period: '1m', key })
    graphql({ limit: 1, period: '1m', key })
    websocket({ limit: 1, period: '1m' })
    Throttle({ limit: 1, period: '1m' })
  })

  it('do not compile where they are none, and are refused when the limiter is made', () => {
    const mistakes: readonly (() => unknown)[] = [
      // @ts-expect-error: a month is no duration
      () => express({ limit: 1, period: '1 month' }),
      // @ts-expect-error
      () => express({ limit: 1, period: '15m', tarpit: 'soon' }),
      // @ts-expect-error
      () => express({ limit: 1, windowMs: '15 fortnights' }),
      // @ts-expect-error
      () => koa({ policies: { a: { limit: 1, period: '1h' }, b: { limit: 2, period: 'daily' } } }),
      // @ts-expect-error
      () => hono({ limit: 1, period: '1m', plan: () => 'p', plans: { p: { limit: 2, period: '1y' } } }),
      // @ts-expect-error
      () => node({ limit: 1, period: '1m', block: { after: 2, within: '1m', for: 'ever' } }),
      // @ts-expect-error
      () => fetchLimit({ limit: 1, period: '1 month', key }),
      // @ts-expect-error
      () => graphql({ limit: 1, period: '1 month', key }),
      // @ts-expect-error
      () => websocket({ limit: 1, period: '1 month' }),
      // @ts-expect-error
      () => Throttle({ limit: 1, period: '1 month' }),
    ]
    for (const mistake of mistakes) expect(mistake).toThrow(/is not a duration/)
  })
})
