// Servers that are asked by others: `sluice serve`, or what answers the same and decides nothing; and how they are asked.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuOf } from './cpu.mjs'

const SLUICE = new URL('../packages/cli/bin/sluice.js', import.meta.url).pathname
const BARE = new URL('./bare-server.mjs', import.meta.url).pathname
/** After half of it, a question still costs a fifth more than in the end. */
const WARM_UPS = 2
const ANYWHERE = '127.0.0.1:0'
const QUIET = ['--http', ANYWHERE, '--admin', ANYWHERE, '--log-level', 'silent']

/** @param candidate `sluice serve`, or one of bare-server.mjs */
export async function served(candidate, rules, more = []) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const file = join(folder, 'rules.yaml')
  writeFileSync(file, rules)
  const words = candidate === 'sluice serve' ? [SLUICE, 'serve', file, ...QUIET, ...more] : [BARE, candidate]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const addresses = /(?:for Envoy at |http:\/\/)[\d.]+:\d/
  process.once('exit', () => child.kill('SIGKILL')) // where it takes too long and is ended
  const text = await said(addresses, child, child.stderr)
  return {
    pid: child.pid,
    text,
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    },
  }
}

/** What a program has written, once that has a pattern in it. */
export function said(pattern, child, stream) {
  let text = ''
  return new Promise((resolve, reject) => {
    child.on('error', (error) =>
      reject(error.code === 'ENOENT' ? new Error(`${child.spawnfile} is not installed`) : error),
    )
    child.on('exit', (status) =>
      reject(new Error(`${child.spawnargs.join(' ')} ended with ${status}\n${text}`)),
    )
    stream.on('data', (piece) => {
      text += piece
      if (pattern.test(text)) resolve(text)
    })
  })
}

/** @param waits milliseconds */
export function quantiles(waits) {
  waits.sort((a, b) => a - b)
  const at = (share) => waits[Math.floor(waits.length * share)]
  return { 'p50, ms': at(0.5), 'p99, ms': at(0.99), 'p99.9, ms': at(0.999) }
}

/** A table of the page with how long answers took in a scenario, the client's part included. */
export function waitsOf(scenario, what) {
  return {
    head: scenario,
    columns: [
      [`${what} a second`, scenario, 'a second'],
      ...['p50, ms', 'p99, ms', 'p99.9, ms'].map((figure) => [figure, scenario, figure]),
    ],
  }
}

/**
 * Asks a server in turn over so many lines: microseconds of its CPU for a question, questions a second, and waits in
 * milliseconds.
 * @param ask asks once, by number; rejects unless it was answered as it should be
 * @param each questions that are asked at once
 */
export async function measured(pid, lines, count, ask, each = 1) {
  const waits = []
  let next = 0
  const asked = async (end) => {
    const worker = async () => {
      while (next < end) {
        const began = performance.now()
        await ask(next++)
        waits.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: lines }, worker))
  }
  await asked(WARM_UPS * count)
  waits.length = 0
  const [cpu, time, first] = [cpuOf(pid), performance.now(), next]
  await asked((WARM_UPS + 1) * count)
  const questions = (next - first) * each
  const us = (cpuOf(pid) - cpu) / questions
  const rate = (questions / (performance.now() - time)) * 1_000
  return { us, 'a second': rate, ...quantiles(waits) }
}
