import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../../limiter/src/free-port.test-support.ts'
import { application, type Envoy, startEnvoy } from '../rls/envoy.test-support.ts'
import { type RulesFolder, rulesFolder } from '../testing.ts'
import { type Load, startLoad } from './load.test-support.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const read = (file: string): string => readFileSync(join(ROOT, 'examples/envoy-rlqs', file), 'utf8')

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A process that can be killed. */
async function serve(
  folder: RulesFolder,
  grpc: number,
  ...more: string[]
): Promise<{ kill(): Promise<void> }> {
  const options = ['--grpc', `127.0.0.1:${grpc}`, '--http', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const bin = join(ROOT, 'packages/cli/bin/sluice.js')
  const child: ChildProcess = spawn(process.execPath, [bin, 'serve', folder.path, ...options, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  closing.push(kill)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const listen = (text: Buffer): void => {
      said += text
      if (said.includes('/v1/rules')) resolve()
    }
    child.stdout!.on('data', listen)
    child.stderr!.on('data', listen)
    void exit.then(() => reject(new Error(said)))
  })
  return { kill }
}

async function envoyOf(name: string, grpc: number, app: number): Promise<Envoy> {
  const envoy = await startEnvoy(({ listener, admin }) =>
    Object.entries({ 3000: app, 8081: grpc, 10000: listener, 9901: admin })
      .reduce(
        (yaml, [from, to]) => yaml.replace(`port_value: ${from} `, `port_value: ${to} `),
        read('envoy.yaml'),
      )
      .replace('value: edge-1', `value: ${name}`),
  )
  closing.push(envoy.stop)
  return envoy
}

interface Measured {
  readonly seconds: number
  /** Admitted by each Envoy. */
  readonly allowed: readonly number[]
  readonly denied: readonly number[]
  readonly total: number
}

async function measure(loads: readonly Load[], ms: number): Promise<Measured> {
  for (const load of loads) load.take()
  const began = performance.now()
  await pause(ms)
  const counts = loads.map((load) => load.take())
  const allowed = counts.map((count) => count.allowed)
  return {
    seconds: (performance.now() - began) / 1_000,
    allowed,
    denied: counts.map(({ denied }) => denied),
    total: allowed.reduce((sum, each) => sum + each, 0),
  }
}

/** Measures again until all is right: on a busy machine requests and reports come late, and together. */
async function untilRight(
  loads: readonly Load[],
  ms: number,
  isRight: (measured: Measured) => boolean,
): Promise<void> {
  const look = async (): Promise<Measured | true> => {
    const measured = await measure(loads, ms)
    return isRight(measured) || measured
  }
  await expect.poll(look, { interval: 0 }).toBe(true)
}

/** Answers that were on the way when a measurement began, and tokens that a burst has saved. */
const SLACK = 40

test('acceptance 7: two real Envoys share 100 a second as their load is, 80:20, also while the service is killed, and get another limit from the next one', {
  timeout: 300_000,
}, async () => {
  const app = await application('app')
  closing.push(app.close)
  const folder = await rulesFolder({ 'rules.yaml': read('rules.yaml') })
  closing.push(folder.remove)
  const grpc = await freePort()
  const service = await serve(folder, grpc)
  const envoys = [await envoyOf('edge-1', grpc, app.port), await envoyOf('edge-2', grpc, app.port)]
  const loads = [startLoad(envoys[0]!.port, 160), startLoad(envoys[1]!.port, 40)]
  for (const load of loads) closing.push(load.stop)

  // Reports come at once, and then every 5 s: two are sent within 10 s, and what they change arrives within another one.
  await pause(11_500)
  const isShared = ({ total, seconds, allowed, denied }: Measured): boolean => {
    const share = allowed[0]! / total
    return total <= 100 * seconds + SLACK && share > 0.72 && share < 0.88 && Math.min(...denied) > 0
  }
  await untilRight(loads, 6_000, isShared)

  await service.kill()
  await untilRight(loads, 4_000, isShared)

  await folder.write('rules.yaml', read('rules.yaml').replace('limit: 100/second', 'limit: 40/second'))
  await serve(folder, grpc)
  await untilRight(
    loads,
    3_000,
    ({ total, seconds, allowed }) => total <= 40 * seconds + SLACK / 2 && allowed[0]! / total > 0.6,
  )
})

test('acceptance 7: when the last assignment has ended, Envoy does as its expired_assignment_behavior says', async () => {
  const app = await application('app')
  closing.push(app.close)
  const folder = await rulesFolder({ 'rules.yaml': read('rules.yaml') })
  closing.push(folder.remove)
  const grpc = await freePort()
  const service = await serve(folder, grpc, '--rlqs-ttl', '15s')
  const envoy = await envoyOf('edge-1', grpc, app.port)
  const load = startLoad(envoy.port, 200)
  closing.push(load.stop)
  await untilRight([load], 1_000, ({ denied }) => denied[0]! > 0)
  await service.kill()
  // It has a token bucket of 50 a second there.
  const bound = ({ seconds }: Measured): number => seconds * 50 + SLACK
  await untilRight([load], 2_000, (measured) => measured.total > bound(measured))
  await untilRight([load], 2_000, (measured) => measured.total <= bound(measured))
})

test('a bucket for each user: one user is held to the limit, another one is not; when the rule is removed, Envoy forgets the bucket', async () => {
  const app = await application('app')
  closing.push(app.close)
  const folder = await rulesFolder({ 'rules.yaml': read('rules.yaml') })
  closing.push(folder.remove)
  const grpc = await freePort()
  await serve(folder, grpc)
  const envoy = await envoyOf('edge-1', grpc, app.port)
  const statuses = async (user: string, count: number): Promise<number> => {
    const asked = Array.from({ length: count }, () => envoy.get('/', { 'x-user': user }))
    return (await Promise.all(asked)).filter(({ status }) => status === 429).length
  }
  await statuses('ada', 1)
  await expect.poll(() => statuses('ada', 20)).toBeGreaterThan(0)
  expect(await statuses('bob', 1)).toBe(0)
  await folder.write('rules.yaml', read('rules.yaml').replace('name: per-user', 'name: other'))
  await expect.poll(() => statuses('ada', 40)).toBe(0)
})
