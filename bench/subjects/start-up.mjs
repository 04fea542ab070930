// From nothing until it is ready: milliseconds of CPU, and megabytes then.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { said } from '../served.mjs'

const CLI = new URL('../../packages/cli/bin/sluice.js', import.meta.url).pathname
const ADDRESSES = ['--http', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--log-level', 'silent']
const READY = 'setTimeout(() => console.error("http://ready"), 0); setInterval(() => {}, 1e6)'
/** What a program that ends has used. */
const AT_EXIT = `data:text/javascript,${encodeURIComponent('process.on("exit", () => { const { user, system } = process.cpuUsage(); console.error("cpu " + (user + system)) })')}`
const imported = (name) => [
  '--input-type=module',
  '-e',
  `await import(${JSON.stringify(import.meta.resolve(name))}); ${READY}`,
]
const PROGRAMS = {
  node: ['-e', READY],
  '@sluice/limiter': imported('@sluice/limiter'),
  'rate-limiter-flexible': imported('rate-limiter-flexible'),
  'express-rate-limit': imported('express-rate-limit'),
  'sluice --version': ['--import', AT_EXIT, CLI, '--version'],
  'bare Fastify': [new URL('../bare-server.mjs', import.meta.url).pathname, 'fastify'],
  'sluice serve, 1 rule': [CLI, 'serve', '1.yaml', ...ADDRESSES],
  'sluice serve, 1 rule, with gRPC': [CLI, 'serve', '1.yaml', ...ADDRESSES, '--grpc', '127.0.0.1:0'],
  'sluice serve, 10,000 rules': [CLI, 'serve', '10000.yaml', ...ADDRESSES],
}

export const scenarios = { ready: { unit: 'ms', candidates: Object.keys(PROGRAMS) } }

export const tables = [
  {
    head: 'until it is ready',
    columns: [
      ['ms of CPU', 'ready'],
      ['MB then', 'ready', 'mb'],
    ],
  },
]

export async function run(_scenario, candidate) {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  for (const count of [1, 10_000]) {
    const rules = Array.from(
      { length: count },
      (_, i) => `  - { name: r${i}, when: { path: /api/s${i}/** }, key: [ip], limit: 100/minute }\n`,
    )
    writeFileSync(join(cwd, `${count}.yaml`), `domain: d\nlimits:\n${rules.join('')}`)
  }
  const child = spawn(process.execPath, PROGRAMS[candidate], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    if (candidate === 'sluice --version') {
      const text = await said(/cpu \d+\n/, child, child.stderr)
      return { ms: Number(/cpu (\d+)/.exec(text)[1]) / 1_000 }
    }
    await said(/http:\/\//, child, child.stderr)
    const [user, system] = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
      .split(') ')[1]
      .split(' ')
      .slice(11, 13)
      .map(Number)
    const mb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1_024
    return { ms: (user + system) * 10, mb }
  } finally {
    child.kill('SIGKILL')
    rmSync(cwd, { recursive: true })
  }
}
