import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../../../limiter/src/free-port.test-support.ts'
import { ask, askTimes } from './client.test-support.ts'
import { Cleanup, copyOfExample, ROOT, startApp, startProgram } from './processes.test-support.ts'

const cleanup = new Cleanup()
afterAll(() => cleanup.run())

test('acceptance 6.9: of 100 requests through a real nginx and 50 of an application, 100 and 50 are counted by layer', async () => {
  const app = await startApp(cleanup)
  const [proxy, limiter, admin] = [await freePort(), await freePort(), await freePort()]
  const sluice = ['packages/cli/bin/sluice.js', 'serve', 'examples/rulebook', '--trusted', '127.0.0.1']
  const addresses = ['--http', `127.0.0.1:${limiter}`, '--admin', `127.0.0.1:${admin}`]
  await startProgram(cleanup, [process.execPath, ...sluice, ...addresses], [limiter, admin], ROOT)
  const ports = { proxy, limiter, grpc: limiter, app: app.port }
  const folder = copyOfExample(cleanup, 'nginx-auth', ports, (text) => text.replaceAll('90ms', '20s'))
  const nginx = ['nginx', '-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g'] as const
  await startProgram(cleanup, [...nginx, `daemon off; pid ${folder}/pid;`], [proxy], folder)
  const counts = async (): Promise<readonly number[]> => {
    const { body } = await ask(admin, { path: '/metrics' })
    return ['edge', 'service'].map((layer) =>
      Number(
        new RegExp(`^sluice_decision_duration_seconds_count{layer="${layer}"} (\\d+)$`, 'm').exec(body)![1],
      ),
    )
  }
  expect(await counts()).toEqual([0, 0])
  const through = await askTimes(100, proxy, (i) => ({ path: `/page/${i}` }))
  expect(new Set(through.map(({ status }) => status))).toEqual(new Set([200]))
  const question = JSON.stringify({ domain: 'shop', request: { path: '/', ip: '192.0.2.1' } })
  const headers = { 'content-type': 'application/json' }
  const direct = await askTimes(50, limiter, () => ({
    method: 'POST',
    path: '/v1/check',
    headers,
    body: question,
  }))
  expect(new Set(direct.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await counts()).toEqual([100, 50])
})
