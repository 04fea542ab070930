import { GraphQLModule, Query, Resolver } from '@nestjs/graphql'
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { describe, expect, it } from 'vitest'
import { decorate, listen, standing } from './nest/nest.test-support.ts'
import { type NestModuleOptions, RateLimitModule, Throttle } from './nest.ts'

class Fields {
  plain(): string {
    return 'plain'
  }
  strict(): string {
    return 'strict'
  }
}
Resolver()(Fields)
for (const name of ['plain', 'strict']) {
  decorate(
    Fields,
    name,
    Query(() => String, { nullable: name === 'plain' }),
  )
}
decorate(Fields, 'strict', Throttle({ limit: 1 }))

type Ask = (query: string) => Promise<{ status: number; headers: Headers; body: unknown }>

async function withSchema(options: NestModuleOptions, body: (ask: Ask) => Promise<void>): Promise<void> {
  const server = await listen({
    imports: [
      RateLimitModule.forRoot({ ...options, ...standing() }),
      GraphQLModule.forRoot<MercuriusDriverConfig>({
        driver: MercuriusDriver,
        autoSchemaFile: true,
        context: (req: unknown, reply: unknown) => ({ req, reply }),
      }),
    ],
    providers: [Fields],
    platform: new FastifyAdapter(),
  })
  await body(async (query) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  })
  await server.close()
}

describe('GraphQL of Nest', () => {
  const refused = {
    message: 'Try again in 60 seconds.',
    extensions: { code: 'RATE_LIMITED', retryAfter: 60, http: { status: 429 } },
  }

  it('T17: counts a field as often as it is resolved', () =>
    withSchema({ limit: 2, period: '1m' }, async (ask) => {
      const { body } = await ask('{ a: plain b: plain c: plain }')
      expect(body).toMatchObject({ data: { a: 'plain', b: 'plain', c: null }, errors: [refused] })
    }))

  it('tells of a refusal that leaves nothing else to tell by the status, too', () =>
    withSchema({ limit: 9, period: '1m' }, async (ask) => {
      expect(await ask('{ strict }')).toMatchObject({ status: 200, body: { data: { strict: 'strict' } } })
      const { status, headers, body } = await ask('{ strict }')
      expect([status, headers.get('retry-after')]).toEqual([429, '60'])
      expect(body).toMatchObject({ data: null, errors: [refused] })
    }))

  it('throws what the application makes of it', () =>
    withSchema({ limit: 0, period: '1m', exception: () => new Error('enough') }, async (ask) => {
      expect((await ask('{ plain }')).body).toMatchObject({ errors: [{ message: 'enough' }] })
    }))
})
