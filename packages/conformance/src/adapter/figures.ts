import { deepEqual, equal } from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type TestOptions, type TestReply } from './bench.ts'

const minute = (limit: number, more?: TestOptions): TestOptions => ({ limit, period: '1m', ...more })
const shownFigures = ({
  body,
}: TestReply): { remaining: number; used: number; limit: number; policy: string } => JSON.parse(body)

/** Each request has its own figures, however many come at once, and however many limiters it meets. */
export function figures(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test('shows the application what the client is told', minute(3), async ({ get, clock }) => {
    deepEqual(JSON.parse((await get()).body), {
      limit: 3,
      used: 1,
      remaining: 2,
      key: '127.0.0.1',
      policy: 'default',
      resetTime: new Date(clock.now() / 1_000 + 60_000).toISOString(),
    })
  })

  test('T11: of two requests in one packet, each sees its own figures', minute(1), async ({ port }) => {
    const answers = await exchange(port, ['GET / HTTP/1.1', 'GET / HTTP/1.1'])
    deepEqual(answers.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '429'])
    equal(answers.match(/"remaining":(\d+)/)?.[1], '0')
  })

  test('of many at once, lets in exactly the limit, and tells each apart', minute(5), async ({ get }) => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => get()))
    const admitted = replies.filter(({ status }) => status === 200)
    equal(replies.filter(({ status }) => status === 429).length, 15)
    deepEqual(admitted.map((reply) => shownFigures(reply).remaining).sort(), [0, 1, 2, 3, 4])
    for (const reply of admitted)
      equal(reply.headers.ratelimit, `"default";r=${shownFigures(reply).remaining};t=60`)
  })

  test('limits requests, not connections', minute(2), async ({ statuses }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    deepEqual(await statuses(3, '/', { agent }), [200, 200, 429])
    agent.destroy()
  })

  test('FB-049, T62: several policies are one decision, and the one that refuses is the one that is told of', {
    policies: { spend: minute(2) as never, calls: { limit: 60, period: '1s', algorithm: 'gcra' } },
  }, async ({ get, clock }) => {
    await get()
    equal(shownFigures(await get()).policy, 'spend')
    clock.advance(1_000)
    const refused = await get()
    equal(refused.headers['retry-after'], '59')
    equal(refused.headers.ratelimit, '"spend";r=0;t=59, "calls";r=60')
    deepEqual(JSON.parse(refused.body)['violated-policies'], ['spend'])
  })

  test(
    'T48: of several limiters in a row every one counts',
    () => [minute(100), minute(1)],
    async ({ statuses }) => {
      deepEqual(await statuses(3), [200, 429, 429])
    },
  )

  for (const order of ['loose first', 'strict first']) {
    test(
      `T62: of several limiters in a row clients are told of the strictest, ${order}; the application of the last`,
      () => {
        const both = [minute(100, { identifier: 'loose' }), minute(2, { identifier: 'strict' })]
        return (order === 'strict first' ? both.reverse() : both).map((each) => ({
          ...each,
          dialect: ['ietf', 'x-ratelimit'],
        }))
      },
      async ({ get }) => {
        const reply = await get()
        equal(reply.headers['x-ratelimit-remaining'], '1')
        deepEqual(`${reply.headers.ratelimit}`.split(', ').sort(), ['"loose";r=99;t=60', '"strict";r=1;t=60'])
        equal(shownFigures(reply).policy, order === 'strict first' ? 'loose' : 'strict')
      },
    )
  }

  test(
    'of two limiters with one name clients are told of the stricter',
    () => [minute(1), minute(9)],
    async ({ get }) => {
      equal((await get()).headers.ratelimit, '"default";r=0;t=60')
    },
  )

  test(
    'marks who is past the soft threshold',
    minute(4, { soft: 0.5 }),
    async ({ get }) => {
      const soft: boolean[] = []
      for (let i = 0; i < 3; i++) soft.push((await get()).body === 'soft')
      deepEqual(soft, [false, true, true])
    },
    ({ info }) => ({ body: info?.soft ? 'soft' : 'plain' }),
  )
}

/** Sends requests in one write, and reads until the server closes. */
function exchange(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answers = ''
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      answers += text
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answers))
    const last = lines.length - 1
    socket.write(
      lines
        .map((line, i) => `${line}\r\nHost: test\r\n${i === last ? 'Connection: close\r\n' : ''}\r\n`)
        .join(''),
    )
  })
}
