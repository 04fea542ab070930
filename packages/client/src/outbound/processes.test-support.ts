import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

/** A program in a process of its own, with the packages as they are built. */
export interface Program {
  /** The first line that it writes, and then each next one. */
  line(): Promise<string>
  write(line: string): void
  /** @returns its exit code, or the signal that ended it */
  ended: Promise<number | string>
  kill(): void
}

/** @param source an ES module; `args` are in `process.argv` from 1 */
export function startProgram(source: string, ...args: (string | number)[]): Program {
  if (!existsSync(`${PACKAGE}dist/index.js`))
    throw new Error('packages/client/dist is not there: run `npm run build` first')
  const child: ChildProcess = spawn(
    process.execPath,
    ['--input-type=module', '-e', source, ...args.map(String)],
    { cwd: PACKAGE, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines: string[] = []
  const waiting: ((line: string) => void)[] = []
  let rest = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const all = (rest + text).split('\n')
    rest = all.pop()!
    for (const line of all) {
      const next = waiting.shift()
      if (next === undefined) lines.push(line)
      else next(line)
    }
  })
  const ended = new Promise<number | string>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? signal ?? 0))
  })
  const line = (): Promise<string> => {
    const known = lines.shift()
    if (known !== undefined) return Promise.resolve(known)
    return Promise.race([
      new Promise<string>((resolve) => void waiting.push(resolve)),
      ended.then((how) => Promise.reject(new Error(`the program ended with ${how} before it wrote a line`))),
    ])
  }
  return {
    line,
    ended,
    write: (text) => void child.stdin!.write(`${text}\n`),
    kill: () => void child.kill('SIGKILL'),
  }
}

/**
 * A server that counts: `GET /` is answered as its own limit says, but for the first arguments: units a second, burst,
 * the number of a call that is refused with Retry-After 3 (0: none). A line on its input makes it write what it saw.
 */
export const COUNTING_SERVER = `
import { createServer } from 'node:http'
const [perSecond, burst, refuses] = process.argv.slice(1).map(Number)
let tokens = burst, last = 0, over = 0, early = 0, refusedAt = 0, first = 0
const arrivals = []
const overAt = []
const server = createServer((request, response) => {
  const now = performance.now()
  if (arrivals.length === 0) first = last = now
  arrivals.push(now - first)
  tokens = Math.min(burst, tokens + ((now - last) * perSecond) / 1_000)
  last = now
  if (refusedAt > 0 && now - refusedAt > 100 && now - refusedAt < 3_000) early++
  if (arrivals.length === refuses) {
    refusedAt = now
    response.writeHead(429, { 'retry-after': '3' }).end()
    return
  }
  if (tokens < 1) {
    over++
    overAt.push(Math.round(now - first))
  }
  else tokens--
  response.writeHead(tokens < 0 ? 429 : 200).end('ok')
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('data', () => {
  console.log(JSON.stringify({ count: arrivals.length, over, early, refusedAt: refusedAt - first, arrivals, overAt }))
})
process.stdin.on('end', () => process.exit())
`

/** One of several processes: waits for a line, makes calls, and writes what became of them. */
export const CALLER = `
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Redis } from 'ioredis'
import { createLimiter } from '@sluice/limiter'
import { RedisStore } from '@sluice/limiter/stores/redis'
import { outbound } from '@sluice/client'
const [port, url, given] = process.argv.slice(1)
const { policies, calls, forMs, onLimit, atOnce, cost } = JSON.parse(given)
const client = new Redis({ port: Number(port), autoResendUnfulfilledCommands: false })
const store = new RedisStore({ client })
const events = []
let asked = 0
const limited = outbound(fetch, {
  destinations: [{ limiter: createLimiter({ store, policies, observe: () => asked++ }), onLimit, cost }],
  maxWaitMs: 600_000,
  observe: (event) => event.type === 'budget-used' && events.push(event.share),
})
// A program that has just started is slow: its first calls go to a server of its own, whose limits are its own.
const warm = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
await once(warm, 'listening')
for (let i = 0; i < 40; i++)
  await limited('http://127.0.0.1:' + warm.address().port, { limits: { maxWaitMs: 100 } }).then(
    (answer) => answer.text(),
    () => undefined,
  )
events.length = asked = 0
console.log('ready')
process.stdin.once('data', async () => {
  const until = performance.now() + (forMs ?? 1e9)
  const outcomes = {}
  let left = calls ?? Infinity
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (left-- > 0 && performance.now() < until) {
      const maxWaitMs = forMs === undefined ? 600_000 : Math.max(0, until - performance.now())
      const how = await limited(url, { limits: { maxWaitMs } }).then(
        async (answer) => (await answer.text(), answer.status),
        (error) => error.name + ' ' + (error.reason ?? error.message),
      )
      outcomes[how] = (outcomes[how] ?? 0) + 1
    }
  }))
  console.log(JSON.stringify({ outcomes, events, asked }))
  client.disconnect()
  process.exit()
})
`
