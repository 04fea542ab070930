import 'reflect-metadata'
import {
  All,
  Controller,
  type DynamicModule,
  type INestApplication,
  type Provider,
  Req,
  Res,
  type Type,
} from '@nestjs/common'
import type { AbstractHttpAdapter } from '@nestjs/core'
import { Test } from '@nestjs/testing'
import { MemoryStore } from '../../stores/memory.ts'
import { FakeClock } from '../../testing.ts'

/** What `@A() @B() method()` does, for a tool chain without decorators. */
export function decorate(
  owner: { prototype: object },
  method: string,
  ...decorators: readonly MethodDecorator[]
): void {
  const descriptor = Object.getOwnPropertyDescriptor(owner.prototype, method)!
  for (const each of decorators) each(owner.prototype, method, descriptor)
}

/** A controller that answers whatever `path` matches. */
export function everything<Q, R>(path: string, answer: (request: Q, response: R) => Promise<void>): Type {
  class Everything {
    all(request: Q, response: R): Promise<void> {
      return answer(request, response)
    }
  }
  Controller()(Everything)
  decorate(Everything, 'all', All(path))
  Req()(Everything.prototype, 'all', 0)
  Res()(Everything.prototype, 'all', 1)
  return Everything
}

/** Counters at a time that does not pass. */
export function standing(): { readonly name: string; readonly store: MemoryStore } {
  return { name: 'test', store: new MemoryStore({ clock: new FakeClock() }) }
}

/** What of the adapter suite is otherwise in Nest, and why. */
export const EXCEPT = {
  'calls a problem a problem': 'Nest gives every exception the type application/json',
  'lets a function write the body, from the figures': 'Nest puts text into an object of its own',
} as const

/** What of Nest an application is made of here. */
interface Application {
  readonly imports: readonly DynamicModule[]
  readonly controllers?: readonly Type[]
  readonly providers?: readonly Provider[]
  /** Default: Express. */
  readonly platform?: AbstractHttpAdapter
  readonly setUp?: (app: INestApplication) => unknown
}

/** Serves it on a free port. */
export async function listen(application: Application): Promise<{ port: number; close(): Promise<void> }> {
  const { imports, controllers = [], providers = [], platform, setUp } = application
  const module = await Test.createTestingModule({
    imports: [...imports],
    controllers: [...controllers],
    providers: [...providers],
  }).compile()
  const options = { logger: false } as const
  const app =
    platform === undefined
      ? module.createNestApplication(options)
      : module.createNestApplication(platform, options)
  setUp?.(app)
  await app.listen(0, '127.0.0.1')
  const server = app.getHttpServer()
  return {
    port: server.address().port,
    close: () => {
      server.closeAllConnections()
      return app.close()
    },
  }
}
