// A question over HTTP: microseconds of the server's CPU, of 1,000 addresses. The rivals decide nothing that a rulebook
// says: they answer the same text. Client and server have one core together, where there is `taskset`: on two, a server
// also pays for waking the client, now more, now less.
import { spawnSync } from 'node:child_process'
import { Pool } from 'undici'
import { measured, served, waitsOf } from '../served.mjs'

const REQUESTS = 8_000
const RIVALS = ['sluice serve', 'fastify', 'node:http']
const rules = (limit) =>
  `domain: shop\nlimits:\n  - name: login\n    when: { method: POST, path: /login }\n    key: [ip]\n    limit: ${limit}/hour\n`

export const scenarios = {
  '32 connections': { unit: 'us', candidates: RIVALS },
  '1 connection': { unit: 'us', candidates: RIVALS },
  '128 connections': { unit: 'us', candidates: RIVALS },
  'denied, 32 connections': { unit: 'us', candidates: ['sluice serve'] },
  'batch of 20, for each question': { unit: 'us', candidates: ['sluice serve'] },
  'batch of 100, for each question': { unit: 'us', candidates: ['sluice serve'] },
}

export const tables = [
  { head: 'us', columns: Object.keys(scenarios) },
  ...['1 connection', '32 connections', '128 connections'].map((name) => waitsOf(name, 'questions')),
]

const questionOf = (i) => ({
  domain: 'shop',
  request: { method: 'POST', path: '/login', ip: `10.0.${(i >> 8) & 3}.${i & 255}` },
})

export async function run(scenario, candidate) {
  spawnSync('taskset', ['-pc', '0', `${process.pid}`])
  const batch = Number(/batch of (\d+)/.exec(scenario)?.[1] ?? 0)
  const connections = Number(/(\d+) connection/.exec(scenario)?.[1] ?? 8)
  const isDenied = scenario.startsWith('denied')
  const server = await served(candidate, rules(isDenied ? 1 : 1_000_000))
  const pool = new Pool(/http:\/\/[\d.:]+/.exec(server.text)[0], { connections })
  const ask = async (i) => {
    const body =
      batch > 0 ? Array.from({ length: batch }, (_, j) => questionOf(i * batch + j)) : questionOf(i)
    const answer = await pool.request({
      path: batch > 0 ? '/v1/check/batch' : '/v1/check',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`${candidate} answered ${answer.statusCode}`)
  }
  try {
    return await measured(
      server.pid,
      connections,
      Math.ceil(REQUESTS / Math.max(1, batch / 4)),
      ask,
      batch || 1,
    )
  } finally {
    server.stop()
    await pool.destroy()
  }
}
