import {
  Controller,
  type ExecutionContext,
  Get,
  HttpException,
  Injectable,
  Post,
  type Type,
} from '@nestjs/common'
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js'
import { type Application, adapterSuite } from '@sluice/conformance'
import type { Request, Response } from 'express'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../core/errors.ts'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { decorate, EXCEPT, everything, listen } from './nest/nest.test-support.ts'
import { placeName } from './nest/place.ts'
import { type NestModuleOptions, RateLimitGuard, RateLimitModule, SkipThrottle, Throttle } from './nest.ts'

adapterSuite({ describe, it }, 'Nest', {
  header: ([context], name) => (context as ExecutionContext).switchToHttp().getRequest().get(name),
  info: ([context]) => (context as ExecutionContext).switchToHttp().getRequest().rateLimit,
  refusing: (look) => ({
    exception: (context: ExecutionContext) => {
      look([context])
      return new HttpException('refused', 429)
    },
  }),
  listen(options, application) {
    const controller = everything('{*path}', (request: Request, response: Response) =>
      answer(application, request, response),
    )
    return listen({
      imports: options.map((each) => RateLimitModule.forRoot(each)),
      controllers: [controller],
    })
  },
  except: EXCEPT,
})

async function answer(application: Application, request: Request, response: Response): Promise<void> {
  const { status = 200, body = '' } = await application({ path: request.path, info: request.rateLimit })
  response.status(status).send(body)
}

describe('Nest', () => {
  const options = (more?: Partial<NestModuleOptions>): NestModuleOptions => ({
    limit: 9,
    period: '1m',
    name: 'test',
    store: new MemoryStore({ clock: new FakeClock() }),
    ...more,
  })

  class Routes {
    plain() {}
    strict() {}
    other() {}
    free() {}
  }
  Controller()(Routes)
  decorate(Routes, 'plain', Get('plain'))
  decorate(Routes, 'strict', Get('strict'), Throttle({ limit: 1 }))
  decorate(Routes, 'other', Get('other'), Throttle({ limit: 1, message: 'enough' }))
  decorate(Routes, 'free', Get('free'), SkipThrottle())

  async function statuses(
    module: ReturnType<typeof RateLimitModule.forRoot>,
    ...paths: string[]
  ): Promise<number[]> {
    const server = await listen({ imports: [module], controllers: [Routes] })
    const statuses: number[] = []
    for (const path of paths) statuses.push((await fetch(`http://127.0.0.1:${server.port}/${path}`)).status)
    await server.close()
    return statuses
  }

  it('limits handlers as they ask: together, by themselves, or not', async () => {
    const module = RateLimitModule.forRoot(options({ limit: 2 }))
    expect(
      await statuses(module, 'plain', 'strict', 'strict', 'other', 'plain', 'free', 'plain', 'free'),
    ).toEqual([200, 200, 429, 200, 200, 200, 429, 200])
  })

  it('limits only those that ask, where that is said', async () => {
    const { limit: _, ...unlimited } = options({ global: false })
    expect(await statuses(RateLimitModule.forRoot(unlimited), 'plain', 'strict', 'strict')).toEqual([
      200, 200, 429,
    ])
  })

  it('takes options that are made of what is injected', async () => {
    const module = RateLimitModule.forRootAsync({ useFactory: async () => options({ limit: 1 }) })
    expect(await statuses(module, 'plain', 'plain')).toEqual([200, 429])
  })

  it('takes the names of @nestjs/throttler for what means the same', async () => {
    class Named {
      strict() {}
      again() {}
    }
    SkipThrottle()(Named)
    decorate(Named, 'strict', Throttle({ default: { limit: 1, ttl: 1_000 } }))
    decorate(Named, 'again', SkipThrottle({ default: false }))
    const { period: _, ...rest } = options({ limit: 2 })
    const guard = new RateLimitGuard({
      ...rest,
      ttl: 60_000,
      skipIf: (context) => context.switchToHttp().getRequest().method === 'PUT',
      getTracker: (request) => request.headers.user,
      errorMessage: 'enough',
      setHeaders: false,
    })
    const call = async (method: 'strict' | 'again', user: string, verb = 'GET') => {
      const { req, res } = fakeHttp()
      const request = { ...req, method: verb, headers: { user } }
      const context = new ExecutionContextHost([request, res], Named, Named.prototype[method])
      const answer = await guard.canActivate(context).catch((error) => error.message)
      return [answer, res.headers.get('RateLimit'), res.headers.get('Retry-After')]
    }
    expect(await call('strict', 'ada')).toEqual([true, undefined, undefined])
    expect(await call('strict', 'ada')).toEqual(['enough', undefined, '1'])
    expect(await call('strict', 'bob')).toEqual([true, undefined, undefined])
    expect(await call('strict', 'bob', 'PUT')).toEqual([true, undefined, undefined])
    for (const answer of [true, true, 'enough']) expect((await call('again', 'ada'))[0]).toBe(answer)
  })

  it('says what stands for those that mean something else, and for names that it has not', () => {
    const forRoot = (more: object) => () => new RateLimitGuard({ ...options(), ...more })
    expect(forRoot({ throttlers: [] })).toThrow('give limit and period, or policies by name')
    expect(() => new RateLimitGuard([{ limit: 1, ttl: 1 }] as never)).toThrow('options are no list')
    expect(forRoot({ ipv6SubnetPrefix: 31 })).toThrow('ipv6SubnetPrefix must be')
    expect(forRoot({ generateKey: () => 'k' })).toThrow('no option is named "generateKey": give key')
    expect(forRoot({ ttl: 1 })).toThrow('period is given twice')
    const limits = { default: { limit: 1, ttl: 1 }, short: { limit: 1, ttl: 1 } }
    expect(() => Throttle(limits)).toThrow('no limit is named "short" here')
    expect(() => SkipThrottle({ short: true } as never)).toThrow('no limit is named "short" here')
    expect(() => Throttle({ blockDuration: 1 } as never)).toThrow('give block')
    expect(() => Throttle({ limt: 1 } as never)).toThrow('did you mean limit?')
  })

  it('limits the handlers of a class together, but those that say otherwise', async () => {
    class Strict {
      one() {}
      two() {}
      free() {}
    }
    Throttle({ limit: 1 })(Strict)
    decorate(Strict, 'free', SkipThrottle())
    const guard = new RateLimitGuard(options())
    const call = async (method: 'one' | 'two' | 'free') => {
      const { req, res } = fakeHttp()
      const context = new ExecutionContextHost([req, res], Strict, Strict.prototype[method])
      return guard.canActivate(context).catch((error) => error.getStatus())
    }
    expect([await call('one'), await call('two'), await call('free')]).toEqual([true, 429, true])
  })

  /** A class as a bundler leaves it, with a handler `ping`. */
  function shortened(path: string | undefined, limits: Parameters<typeof Throttle>[0] = { limit: 1 }): Type {
    const a = class a {
      ping(): string {
        return 'pong'
      }
    }
    if (path === undefined) Injectable()(a)
    else Controller(path)(a)
    decorate(a, 'ping', Get('ping'), Throttle(limits))
    return a
  }

  it('OF-10: handlers of one name, in classes of one name, count apart', async () => {
    const server = await listen({
      imports: [RateLimitModule.forRoot(options())],
      controllers: [shortened('left'), shortened('right')],
    })
    const statuses: number[] = []
    for (const path of ['left', 'right', 'left', 'right'])
      statuses.push((await fetch(`http://127.0.0.1:${server.port}/${path}/ping`)).status)
    await server.close()
    expect(statuses).toEqual([200, 200, 429, 429])
  })

  it('OF-10: a handler that two controllers inherit counts apart for each', async () => {
    class Base {
      ping(): string {
        return 'pong'
      }
    }
    decorate(Base, 'ping', Get('ping'), Throttle({ limit: 1 }))
    const controllers = ['left', 'right'].map((path) => {
      const a = class a extends Base {}
      Controller(path)(a)
      return a
    })
    const server = await listen({ imports: [RateLimitModule.forRoot(options())], controllers })
    const statuses: number[] = []
    for (const path of ['left', 'right', 'left'])
      statuses.push((await fetch(`http://127.0.0.1:${server.port}/${path}/ping`)).status)
    await server.close()
    expect(statuses).toEqual([200, 200, 429])
  })

  it('OF-10: classes of one name that limit all their handlers count apart', async () => {
    const controllers = ['left', 'right'].map((path) => {
      const a = shortened(path, { limit: 9 })
      Reflect.deleteMetadata('sluice:throttle', a.prototype.ping)
      Throttle({ limit: 1 })(a)
      return a
    })
    const server = await listen({ imports: [RateLimitModule.forRoot(options())], controllers })
    const statuses: number[] = []
    for (const path of ['left', 'right', 'left'])
      statuses.push((await fetch(`http://127.0.0.1:${server.port}/${path}/ping`)).status)
    await server.close()
    expect(statuses).toEqual([200, 200, 429])
  })

  it('OF-10: names counters alike whatever a bundler calls the classes', () => {
    class Health {
      ping() {}
    }
    Controller('health')(Health)
    decorate(Health, 'ping', Get('/ping'))
    expect(placeName({ owner: Health, handler: Health.prototype.ping })).toBe('GET /health/ping')
    Object.defineProperty(Health, 'name', { value: 'a' })
    expect(placeName({ owner: Health, handler: Health.prototype.ping })).toBe('GET /health/ping')
    expect(placeName({ owner: Health, handler: undefined })).toBe('/health')
    class Versioned {
      ping() {}
    }
    Controller({ path: ['a', 'b'], host: 'h', version: '2' })(Versioned)
    decorate(Versioned, 'ping', Post())
    expect(placeName({ owner: Versioned, handler: Versioned.prototype.ping })).toBe(
      'POST host h version 2 /a,b',
    )
  })

  it('OF-10: what cannot be told apart is an error when the application starts, and asks for a name', async () => {
    const start = (providers: Type[], more?: Partial<NestModuleOptions>) =>
      listen({ imports: [RateLimitModule.forRoot(options(more))], providers })
    const twins = [shortened(undefined), shortened(undefined)]
    await expect(start(twins)).rejects.toThrow(
      /would share the counters "a\.ping": a\.ping and a\.ping; give one of them a name/,
    )
    const asynchronous = RateLimitModule.forRootAsync({ useFactory: async () => options() })
    await expect(listen({ imports: [asynchronous], providers: twins })).rejects.toThrow(ConfigError)
    const named = shortened(undefined, { limit: 1, name: 'pings' })
    await (await start([shortened(undefined), named])).close()
    // Counters of their own need no names.
    const { name: _, store: _store, ...bare } = options()
    await (await listen({ imports: [RateLimitModule.forRoot(bare)], providers: twins })).close()
  })

  it('OF-20: mistakes in the options of a handler show when the application starts', async () => {
    expect(() => shortened('wrong', { limit: -1 })).toThrow('limit must be a whole number')
    const wrong = shortened('wrong', { algorithm: 'fixed-window', limit: 1, burst: 3 })
    await expect(
      listen({ imports: [RateLimitModule.forRoot(options())], controllers: [wrong] }),
    ).rejects.toThrow('"burst" is not supported by fixed-window')
  })

  it('finds the sockets of Fastify, which are inside its requests and replies', async () => {
    const guard = new RateLimitGuard(options({ limit: 1 }))
    const call = async () => {
      const { req, res } = fakeHttp()
      const context = new ExecutionContextHost([{ raw: req }, { raw: res }], Routes, Routes.prototype.plain)
      const answer = await guard.canActivate(context).catch((error) => error.getStatus())
      return [answer, res.headers.get('RateLimit')]
    }
    expect(await call()).toEqual([true, '"default";r=0;t=60'])
    expect(await call()).toEqual([429, '"default";r=0;t=60'])
  })

  it('T17: counts a field of a GraphQL operation as often as it is resolved, and sets headers where it can', async () => {
    const guard = new RateLimitGuard(options({ limit: 2 }))
    for (const context of [{ req: fakeHttp().req, res: fakeHttp().res }, { req: fakeHttp().req }]) {
      const results = []
      for (let i = 0; i < 3; i++) {
        const host = new ExecutionContextHost([{}, {}, context, {}], Routes, Routes.prototype.plain)
        host.setType('graphql')
        results.push(await guard.canActivate(host).catch((error) => error.getStatus()))
      }
      expect(results).toEqual('res' in context ? [true, true, 429] : [429, 429, 429])
      if (context.res !== undefined) expect(context.res.headers.get('Retry-After')).toBe('60')
    }
  })

  it('T17: counts messages of WebSockets, and throws what the application makes of a refusal', async () => {
    const guard = new RateLimitGuard(
      options({ limit: 1, exception: (_, { key }) => new Error(`enough of ${key}`) }),
    )
    const message = (client: object) => {
      const host = new ExecutionContextHost([client, 'hello'], Routes, Routes.prototype.plain)
      host.setType('ws')
      return guard.canActivate(host)
    }
    expect(await message({ handshake: { address: '192.0.2.1' } })).toBe(true)
    await expect(message({ _socket: { remoteAddress: '192.0.2.1' } })).rejects.toThrow('enough of 192.0.2.1')
  })
})

function fakeHttp() {
  const headers = new Map<string, string>()
  const res = {
    headers,
    setHeader: (name: string, value: string) => headers.set(name, value),
    getHeader: (name: string) => headers.get(name),
  }
  return { req: { method: 'GET', url: '/', headers: {}, socket: { remoteAddress: '192.0.2.1' } }, res }
}
