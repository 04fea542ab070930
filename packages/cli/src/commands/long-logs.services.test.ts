import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-long-'))
afterAll(() => rmSync(folder, { recursive: true }))
const rules = join(folder, 'rules.yaml')
writeFileSync(rules, 'domain: long\nlimits: [{ name: address, key: [ip], limit: 100/minute }]\n')

const MILLION = 1_000_000
const IN_CHUNK = 10_000
/**
 * Writes the most that the process had in memory, in kilobytes, once it ends. Not `resourceUsage().maxRSS`: Linux counts
 * there what the process that started it had.
 */
const TELL_MEMORY =
  "--import=data:text/javascript,import{readFileSync}from'node:fs';process.on('exit',()=>process.stderr.write(readFileSync('/proc/self/status','latin1')))"

/** A log with a thousand requests in each second. */
function* longLog(lines: number): Generator<string> {
  const addresses = Array.from({ length: IN_CHUNK }, (_, i) => {
    const client = (i * i) % 9_973
    return `10.0.${client >> 8}.${client & 255} - - [`
  })
  for (let first = 0; first < lines; first += IN_CHUNK) {
    const seconds = Array.from({ length: IN_CHUNK / 1_000 }, (_, i) => stampOf(first / 1_000 + i))
    yield addresses.map((start, i) => `${start}${seconds[Math.floor(i / 1_000)]}`).join('')
  }
}

function stampOf(second: number): string {
  const [, day, month, year, time] = new Date(1_767_225_600_000 + second * 1_000).toUTCString().split(' ')
  return `${day}/${month}/${year}:${time} +0000] "GET / HTTP/1.1" 200 5\n`
}

async function sluice(lines: number, argv: readonly string[]): Promise<{ out: string; megabytes: number }> {
  const child = spawn(process.execPath, [TELL_MEMORY, bin, ...argv, '--log', '-', '--format', 'json'])
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const gone = once(child, 'close')
  await pipeline(longLog(lines), child.stdin)
  await gone
  return { out, megabytes: Number(/VmHWM:\s+(\d+)/.exec(err)![1]) / 1_024 }
}

describe('Acceptance 15.8: ten million lines take less than 500 MB', () => {
  // suggest keeps some 20 bytes of each request: half of them may take half of what comes on top of 140 MB.
  it.each([
    [10 * MILLION, 500, ['simulate', rules]],
    [5 * MILLION, 320, ['suggest', '--key', 'ip', '--deny-at-most', '0.1%', '--period', '1m']],
  ])('%d lines below %d MB: %j', { timeout: 1_200_000 }, async (lines, most, argv) => {
    const { out, megabytes } = await sluice(lines, argv)
    expect(JSON.parse(out)).toMatchObject({ requests: lines, unreadable: 0 })
    expect(megabytes).toBeLessThan(most)
  })
})
