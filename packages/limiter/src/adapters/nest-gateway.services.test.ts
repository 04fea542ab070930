import { once } from 'node:events'
import { type ArgumentsHost, Catch, UseFilters, UseGuards } from '@nestjs/common'
import { WsAdapter } from '@nestjs/platform-ws'
import { SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { decorate, listen, standing } from './nest/nest.test-support.ts'
import { type NestModuleOptions, RateLimitGuard, RateLimitModule, SkipThrottle, Throttle } from './nest.ts'

class Gateway {
  say(): object {
    return { event: 'said' }
  }
  shout(): object {
    return { event: 'shouted' }
  }
  free(): object {
    return { event: 'free' }
  }
}
for (const name of ['say', 'shout', 'free']) decorate(Gateway, name, SubscribeMessage(name))
decorate(Gateway, 'shout', Throttle({ limit: 1 }))
decorate(Gateway, 'free', SkipThrottle())

/** Over sockets of `ws` Nest tells the client nothing by itself. */
class Tell {
  catch(exception: WsException, host: ArgumentsHost): void {
    host.switchToWs().getClient<WebSocket>().send(JSON.stringify(exception.getError()))
  }
}
Catch(WsException)(Tell)
UseFilters(Tell)(Gateway)
UseGuards(RateLimitGuard)(Gateway)
WebSocketGateway()(Gateway)

/** Answers to these messages, one after the other. */
async function answers(options: NestModuleOptions, ...events: readonly string[]): Promise<object[]> {
  const server = await listen({
    imports: [RateLimitModule.forRoot({ ...options, ...standing() })],
    providers: [Gateway],
    setUp: (app) => app.useWebSocketAdapter(new WsAdapter(app)),
  })
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`)
  await once(socket, 'open')
  const answers: object[] = []
  for (const event of events) {
    socket.send(JSON.stringify({ event }))
    const [data] = await once(socket, 'message')
    answers.push(JSON.parse(String(data)))
  }
  socket.terminate()
  await server.close()
  return answers
}

const REFUSED = { title: 'Quota Exceeded', status: 429, retryAfter: 60 }

describe('a gateway of Nest', () => {
  it('limits messages by one limiter, by limiters of handlers, or not', async () => {
    const got = await answers(
      { limit: 2, period: '1m' },
      ...['say', 'shout', 'say', 'shout', 'say', 'free', 'say', 'free'],
    )
    expect(got).toMatchObject([
      { event: 'said' },
      { event: 'shouted' },
      { event: 'said' },
      REFUSED,
      REFUSED,
      { event: 'free' },
      REFUSED,
      { event: 'free' },
    ])
  })

  it('says what the application wants said', async () => {
    expect(await answers({ limit: 0, period: '1m', message: 'enough' }, 'say')).toEqual(['enough'])
    const exception = () => new WsException({ event: 'slower' })
    expect(await answers({ limit: 0, period: '1m', exception }, 'say')).toEqual([{ event: 'slower' }])
  })
})
