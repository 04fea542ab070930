import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { grpcBench } from '../grpc/calls.test-support.ts'
import { application, startEnvoy } from './envoy.test-support.ts'
import { hitsOf } from './vectors.test-support.ts'

const EXAMPLE = join(import.meta.dirname, '../../../../examples/envoy')
const read = (file: string): string => readFileSync(join(EXAMPLE, file), 'utf8')

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('FB-061: examples/envoy limits by address, whatever X-Forwarded-For says, by key, and by tokens after the answer', async () => {
  const service = await grpcBench(read('rules.yaml'))
  closing.push(() => service.close())
  const app = await application('app')
  closing.push(app.close)
  const ports = { 3000: app.port, 8081: Number(service.address.split(':')[1]) }
  const envoy = await startEnvoy(({ listener, admin }) =>
    Object.entries({ ...ports, 10000: listener, 9901: admin }).reduce(
      (yaml, [from, to]) => yaml.replace(`port_value: ${from} `, `port_value: ${to} `),
      // On a slow machine Envoy's 20 ms would end while nothing is wrong.
      read('envoy.yaml').replace('domain: edge', 'domain: edge\n                      timeout: 10s'),
    ),
  )
  closing.push(envoy.stop)
  const statuses = async (
    count: number,
    path: string,
    headers: Record<string, string>,
  ): Promise<number[]> => {
    const found: number[] = []
    for (let i = 0; i < count; i++) found.push((await envoy.get(path, headers)).status)
    return found
  }
  expect(await statuses(6, '/', { 'x-forwarded-for': `203.0.113.${Math.random()}` })).toEqual([
    200, 200, 200, 200, 200, 429,
  ])
  expect(await statuses(4, '/key', { 'x-api-key': 'a' })).toEqual([200, 200, 200, 429])
  expect(await statuses(1, '/key', { 'x-api-key': 'b' })).toEqual([200])
  expect(await statuses(8, '/free', {})).toEqual(Array.from({ length: 8 }, () => 200))

  const chat = { 'x-user': 'ada', 'x-answer': '700' }
  expect(await statuses(1, '/chat', chat)).toEqual([200])
  await expect.poll(async () => (await hitsOf(service))['edge.user']?.total_hits).toBe(700)
  expect(await statuses(1, '/chat', chat)).toEqual([200])
  await expect.poll(async () => (await hitsOf(service))['edge.user']?.total_hits).toBe(1_400)
  expect(await statuses(1, '/chat', chat)).toEqual([429])
  expect(await statuses(1, '/chat', { ...chat, 'x-user': 'bob' })).toEqual([200])
})
