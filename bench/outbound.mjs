// Calls to a limited API: what a call costs, what waiting calls hold, and eight processes that share a limit, with
// libraries that people choose today beside ours. `npm run outbound`, with a redis-server on PATH.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { outbound } from '@sluice/client'
import { createLimiter } from '@sluice/limiter'
import { print, rounds } from './rounds.mjs'

const CALLS = 100_000
const WAITING = 100_000
const PROCESSES = 8
const SECONDS = Number(process.env.SECONDS ?? 10)

const policies = { rate: { algorithm: 'token-bucket', limit: 1_000_000_000, period: '1s' } }
const answer = new Response(null, {
  headers: {
    'content-type': 'application/json',
    ratelimit: '"default";r=1000;t=60',
    date: new Date().toUTCString(),
  },
})
const plain = new Response(null, {
  headers: { 'content-type': 'application/json', date: new Date().toUTCString() },
})
const url = 'https://api.example.com/v1/items'

/** Microseconds of CPU for each call, one after the other. */
const cpuOf = (call) => async () => {
  const before = process.cpuUsage()
  for (let i = 0; i < CALLS; i++) await call(url)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}
const limiter = createLimiter({ policies })
const destinations = [{ origin: 'https://api.example.com', limiter }]
print(
  'CPU of a call below its limit, over a fetch that answers at once',
  'µs',
  await rounds({
    'fetch alone': cpuOf(async () => answer),
    'outbound, answers without limits': cpuOf(outbound(async () => plain, { destinations })),
    'outbound, answers with RateLimit': cpuOf(outbound(async () => answer, { destinations })),
    'outbound, answers not read': cpuOf(outbound(async () => answer, { destinations, read: false })),
  }),
)

const slow = createLimiter({ policies: { rate: { algorithm: 'token-bucket', limit: 1, period: '1h' } } })
const limited = outbound(async () => answer, {
  destinations: [{ limiter: slow }],
  maxWaiting: WAITING,
  maxWaitMs: 1e15,
})
gc()
const before = process.memoryUsage().heapUsed
for (let i = 0; i <= WAITING; i++) limited(url)
gc()
const held = process.memoryUsage().heapUsed - before
console.log(
  `\n${WAITING} waiting calls hold ${(held / 1e6).toFixed(1)} MB, ${Math.round(held / WAITING)} bytes each`,
)

/** Counts as strictly as it can: 100 a second, 20 at once. */
const SERVER = `
import { createServer } from 'node:http'
let tokens = 20, last = 0, over = 0, count = 0, first = 0
createServer((request, response) => {
  const now = performance.now()
  if (count++ === 0) first = last = now
  tokens = Math.min(20, tokens + (now - last) / 10)
  last = now
  if (tokens < 1) over++
  else tokens--
  response.end('ok')
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
process.stdin.on('data', () => { console.log(JSON.stringify({ count, over, ms: last - first })); process.exit() })
`
/** What each library makes of \`send\`: 100 a second. */
const LIMITED = {
  '@sluice/client, over Redis': `
    const { createLimiter } = await import('@sluice/limiter')
    const { RedisStore } = await import('@sluice/limiter/stores/redis')
    const { outbound } = await import('@sluice/client')
    const client = new Redis({ port, autoResendUnfulfilledCommands: false })
    const limiter = createLimiter({
      store: new RedisStore({ client }),
      policies: { rate: { algorithm: 'leaky-bucket', limit: 100, period: '1s', burst: 20 } },
    })
    const limited = outbound(fetch, { destinations: [{ limiter }], maxWaitMs: 600_000 })
    export const call = () => limited(url).then((answer) => answer.text())`,
  'bottleneck, over Redis': `
    const { default: Bottleneck } = await import('bottleneck')
    const limiter = new Bottleneck({ id: 'api', minTime: 10, datastore: 'ioredis', Redis, clientOptions: { port } })
    await limiter.ready()
    export const call = () => limiter.schedule(send)`,
  'p-throttle': `
    const { default: pThrottle } = await import('p-throttle')
    export const call = pThrottle({ limit: 100, interval: 1_000 })(send)`,
  limiter: `
    const { RateLimiter } = await import('limiter')
    const limiter = new RateLimiter({ tokensPerInterval: 100, interval: 'second' })
    export const call = async () => (await limiter.removeTokens(1), send())`,
  'axios-rate-limit': `
    const { default: axios } = await import('axios')
    const { default: rateLimit } = await import('axios-rate-limit')
    const client = rateLimit(axios.create(), { maxRequests: 100, perMilliseconds: 1_000 })
    export const call = () => client.get(url)`,
}
const callerOf = (source) => `
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Redis } from 'ioredis'
const [port, url, ms] = [Number(process.argv[1]), process.argv[2], Number(process.argv[3])]
const send = () => fetch(url).then((answer) => answer.text())
${source.replace('export const call', 'const call')}
// A program that has just started is slow.
const warm = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
await once(warm, 'listening')
for (let i = 0; i < 40; i++) await fetch('http://127.0.0.1:' + warm.address().port).then((answer) => answer.text())
warm.close()
warm.closeAllConnections()
console.log('ready')
process.stdin.once('data', async () => {
  const until = performance.now() + ms
  setTimeout(() => process.exit(), ms)
  await Promise.all(Array.from({ length: 25 }, async () => { while (performance.now() < until) await call() }))
})
`
const start = (source, ...args) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  })
  child.stdout.setEncoding('utf8')
  return child
}
const redis = spawn('redis-server', [
  '--port',
  '6399',
  '--bind',
  '127.0.0.1',
  '--save',
  '',
  '--appendonly',
  'no',
])
await once(redis.stdout, 'data')
console.log(`\n${PROCESSES} processes, 100 calls a second together, 20 at once, ${SECONDS} s`)
for (const [name, source] of Object.entries(LIMITED)) {
  const server = start(SERVER)
  const [port] = await once(server.stdout, 'data')
  const callers = Array.from({ length: PROCESSES }, () =>
    start(callerOf(source), 6399, `http://127.0.0.1:${Number(port)}/`, SECONDS * 1_000),
  )
  await Promise.all(callers.map(({ stdout }) => once(stdout, 'data')))
  for (const { stdin } of callers) stdin.write('go\n')
  await Promise.all(callers.map((child) => once(child, 'exit')))
  server.stdin.write('\n')
  const { count, over, ms } = JSON.parse((await once(server.stdout, 'data'))[0])
  const used = (100 * (count - over)) / (20 + ms / 10)
  console.log(
    `  ${name.padEnd(30)} ${String(count).padStart(7)} calls  ${String(over).padStart(6)} over the limit  ${used.toFixed(1).padStart(6)} % of it used`,
  )
}
redis.kill()
process.exit()
