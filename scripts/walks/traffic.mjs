// Sends a service hostile requests for so many seconds, and looks at its answers, its memory and its event loop.
// node scripts/walks/traffic.mjs SECONDS: exits 1 for a wrong answer, an answer 500, a death, or growth.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/** The service, in a process of its own, which tells its memory and the delays of its event loop when asked. */
async function serve(folder) {
  const { createService } = await import('../../packages/service/dist/index.js')
  const service = createService({
    rules: [folder],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    log: { level: 'silent' },
  })
  const { http } = await service.start()
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  process.on('disconnect', () => process.exit()) // whoever asked is gone
  process.on('message', () => {
    globalThis.gc()
    const { heapUsed, external, rss } = process.memoryUsage()
    process.send({
      held: heapUsed + external,
      rss,
      longestMs: delays.max / 1e6,
      p99Ms: delays.percentile(99) / 1e6,
    })
  })
  process.send({ http })
}

async function attack(seconds, seed) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-traffic-'))
  writeFileSync(
    join(folder, 'rules.yaml'),
    `domain: d
limits:
  - { name: user, key: ["user|fold"], limit: 10/second }
  - { name: probe, key: [tenant], limit: 1000000/day, algorithm: fixed-window }
  - { name: ip, key: [ip], when: { path: "/a/**" }, limit: 100/minute }
  - { name: cookie, key: ["cookie:x"], limit: 5/second, block: { after: 9, within: 1m, for: 2m } }
descriptors:
  - { key: k, rate_limit: { unit: second, requests_per_unit: 100 } }
`,
  )
  const child = fork(process.argv[1], ['serve', folder], { execArgv: ['--expose-gc'] })
  const next = () =>
    new Promise((resolve, reject) => {
      child.once('message', resolve)
      child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
    })
  const { http } = await next()
  const random = dice(seed)
  const statuses = new Map()
  const wrong = []
  let used = 0
  let cut = 0
  const until = Date.now() + seconds * 1_000
  const send = async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${http}${path}`, { method: 'POST', headers, body })
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    const text = await response.text()
    if (response.status === 500) wrong.push(`500 for ${body.slice(0, 200)}`)
    return { status: response.status, text }
  }
  const attacker = async () => {
    while (Date.now() < until) {
      const [path, body] = hostile(random)
      if (random() < 0.05) await halfSent(http, body)
      else await send(path, body).catch(() => cut++) // refused before all of it was sent
    }
  }
  /** A caller whose count nothing else may change. */
  const prober = async () => {
    const request = { domain: 'd', request: { attributes: { tenant: 'probe' } } }
    while (Date.now() < until) {
      const { status, text } = await send('/v1/check', JSON.stringify(request))
      if (status === 503) continue // as many bytes in flight as there may be
      used++
      const left = JSON.parse(text).remaining
      if (left !== 1_000_000 - used) wrong.push(`${left} remain after ${used}`)
      await wait(10)
    }
  }
  const ask = () => {
    const answer = next()
    child.send('memory')
    return answer
  }
  const workers = [prober(), ...Array.from({ length: 6 }, attacker)]
  await wait(seconds * 250)
  const early = await ask()
  await Promise.all(workers)
  await wait(3_000) // connections that were left are closed
  const late = await ask()
  child.kill()
  rmSync(folder, { recursive: true })
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  console.log(
    `${requests} requests in ${seconds} s, seed ${seed} (${counts.join(', ')}), ${used} of them probes`,
  )
  const mb = (bytes) => `${Math.round(bytes / 2 ** 20)} MB`
  console.log(
    `memory held: ${mb(early.held)} after a quarter, ${mb(late.held)} at the end; resident ${mb(late.rss)}`,
  )
  console.log(
    `delay of the event loop in ms: p99 ${late.p99Ms.toFixed(1)}, longest ${late.longestMs.toFixed(1)}`,
  )
  if (late.held > early.held * 1.5 + 32 * 2 ** 20) wrong.push('memory has grown')
  for (const line of wrong.slice(0, 20)) console.log(`wrong: ${line}`)
  process.exit(wrong.length > 0 ? 1 : 0)
}

/** Numbers from 0 to 1, alike for a seed (mulberry32). */
function dice(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const TOKENS = [
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '"',
  '\\',
  '1e308',
  '-0',
  'null',
  'true',
  '"a"',
  '"__proto__"',
  ' ',
  '\u0000',
]
const TEXTS = ['a', 'ﷺ', '\u0301', '\u200b', '\ud800', '%2e', '/../', '"', 'a=b; ', '::1', '1.2.3.4, ', '😀']

/** @returns a path and a body, of which many are no JSON, too large, or no question */
function hostile(random) {
  const pick = (list) => list[Math.floor(random() * list.length)]
  const text = () => pick(TEXTS).repeat(1 + Math.floor(random() ** 4 * 20_000))
  const question = () => ({
    domain: pick(['d', 'd', 'd', 'e', text()]),
    ...(random() < 0.2 && { cost: pick([0, 1, 1e9, -1, 1.5, 2 ** 53]) }),
    ...(random() < 0.6
      ? {
          request: {
            path: `/a/${text()}`,
            ip: pick(['192.0.2.1', '::1', text(), `10.0.${Math.floor(random() * 256)}.1`]),
            attributes: { user: text(), ...(random() < 0.1 && { [text()]: 1 }) },
            headers: { cookie: `x=${text()}` },
          },
        }
      : {
          descriptors: Array.from({ length: Math.floor(random() ** 3 * 140) }, () => ({
            entries: [{ key: 'k', value: text().slice(0, 20) }],
          })),
        }),
  })
  const tokens = () => Array.from({ length: Math.floor(random() ** 3 * 50_000) }, () => pick(TOKENS)).join('')
  switch (Math.floor(random() * 8)) {
    case 0:
      return ['/v1/check', tokens()]
    case 1:
      return [
        '/v1/check/batch',
        `[${pick(['[],', '{},', '1,', '[[', '{"a":'])}`.repeat(Math.floor(random() * 200_000)),
      ]
    case 2:
      return [
        '/v1/check/batch',
        JSON.stringify(Array.from({ length: Math.floor(random() ** 3 * 1_100) }, question)).slice(
          0,
          4_000_000,
        ),
      ]
    case 3:
      return ['/v1/reserve', JSON.stringify({ ...question(), ttl_ms: pick([1, 1_000, 86_400_000, -1]) })]
    case 4:
      return [pick(['/v1/commit', '/v1/cancel']), JSON.stringify({ id: text(), cost: 1 })]
    default:
      return [pick(['/v1/check', '/v1/check?peek']), JSON.stringify(question())]
  }
}

/** A request that is begun, and then left. */
function halfSent(http, body) {
  const { hostname, port } = new URL(http)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 9}\r\n\r\n`,
      )
      socket.write(body.slice(0, 1_000))
      setTimeout(() => socket.destroy(), 20)
    })
    socket.on('error', () => undefined)
    socket.on('close', resolve)
  })
}

if (process.argv[2] === 'serve') await serve(process.argv[3])
else await attack(Number(process.argv[2] ?? 60), Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31))
