// A question over HTTP: microseconds of the server's CPU, over 32 connections, of 1,000 addresses. The rivals decide
// nothing that a rulebook says: they answer the same text.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { cpuOf } from '../cpu.mjs'

const CONNECTIONS = 32
const REQUESTS = 12_000
const BATCH = 20
const RULES =
  'domain: shop\nlimits:\n  - name: login\n    when: { method: POST, path: /login }\n    key: [ip]\n    limit: 1000000/minute\n'

export const scenarios = {
  check: { unit: 'us', candidates: ['sluice serve', 'fastify', 'node:http'] },
  'one connection': { unit: 'us', candidates: ['sluice serve', 'fastify', 'node:http'] },
  [`batch of ${BATCH}, for each question`]: { unit: 'us', candidates: ['sluice serve'] },
}

const questionOf = (i) => ({
  domain: 'shop',
  request: { method: 'POST', path: '/login', ip: `10.0.${(i >> 8) & 3}.${i & 255}` },
})

async function started(candidate, folder) {
  const rules = join(folder, 'rules.yaml')
  writeFileSync(rules, RULES)
  const program = new URL('../../packages/cli/bin/sluice.js', import.meta.url).pathname
  const serve = [
    program,
    'serve',
    rules,
    '--http',
    '127.0.0.1:0',
    '--admin',
    '127.0.0.1:0',
    '--log-level',
    'silent',
  ]
  const bare = [new URL('../bare-server.mjs', import.meta.url).pathname, candidate]
  const child = spawn(process.execPath, candidate === 'sluice serve' ? serve : bare, {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let text = ''
  while (!/http:\/\/[\d.:]+/.test(text)) text += (await once(child.stderr, 'data'))[0]
  child.stderr.resume()
  return { child, url: /http:\/\/[\d.:]+/.exec(text)[0] }
}

export async function run(scenario, candidate) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const { child, url } = await started(candidate, folder)
  const isBatch = scenario.startsWith('batch')
  const connections = scenario === 'one connection' ? 1 : CONNECTIONS
  const pool = new Pool(url, { connections })
  const waits = []
  let next = 0
  const ask = async (count) => {
    const end = next + count
    const worker = async () => {
      while (next < end) {
        const own = next++
        const question = isBatch
          ? Array.from({ length: BATCH }, (_, i) => questionOf(own * BATCH + i))
          : questionOf(own)
        const began = performance.now()
        const { statusCode, body } = await pool.request({
          path: isBatch ? '/v1/check/batch' : '/v1/check',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(question),
        })
        await body.dump()
        waits.push(performance.now() - began)
        if (statusCode !== 200) throw new Error(`${candidate} answered ${statusCode}`)
      }
    }
    await Promise.all(Array.from({ length: connections }, worker))
  }
  const count = isBatch ? REQUESTS / 10 : REQUESTS
  try {
    await ask(count)
    waits.length = 0
    const [cpu, time, first] = [cpuOf(child.pid), performance.now(), next]
    await ask(count)
    const questions = (next - first) * (isBatch ? BATCH : 1)
    const us = (cpuOf(child.pid) - cpu) / questions
    const rate = (questions / (performance.now() - time)) * 1_000
    waits.sort((a, b) => a - b)
    return { us, rate, p50: waits[waits.length >> 1], p99: waits[Math.floor(waits.length * 0.99)] }
  } finally {
    child.kill('SIGKILL')
    await pool.destroy()
    rmSync(folder, { recursive: true })
  }
}
