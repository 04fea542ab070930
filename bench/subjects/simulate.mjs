// A line of an access log, decided by one fixed window by address: microseconds of CPU of the whole program, start-up
// included, beside a plain line reader of Node and goaccess. The log is a trace, repeated with shifted times.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const ROOT = join(import.meta.dirname, '../..')
const TRACE = join(ROOT, 'packages/lab/fixtures/traces/apache-combined-2015.log.gz')
const STAMP = /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) \+0000\]/

const LINES = 1_000_000
const READ_LINES = `
  import { createReadStream } from 'node:fs'
  import { createInterface } from 'node:readline'
  let lines = 0
  for await (const _ of createInterface({ input: createReadStream(process.argv[1]) })) lines++
  console.log(lines)`

export const scenarios = {
  'an access log': {
    unit: 'us',
    candidates: ['sluice simulate', 'sluice simulate, --jobs 2', 'node:readline, counting', 'goaccess'],
  },
}

export const tables = [
  {
    head: 'an access log',
    columns: [
      ['us a line', 'an access log'],
      ['lines a second', 'an access log', 'rate'],
      ['MB at most', 'an access log', 'mb'],
    ],
  },
]

/** The log, once for all. */
export async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  writeFileSync(
    join(folder, 'rules.yaml'),
    'domain: bench\nlimits: [{ name: address, key: [ip], limit: 100/minute, algorithm: fixed-window }]\n',
  )
  process.env.BENCH_LOG = `${writeLog(join(folder, 'access.log'), LINES)} ${folder}`
  return () => rmSync(folder, { recursive: true })
}

export async function run(_scenario, candidate) {
  const [lines, folder] = process.env.BENCH_LOG.split(' ')
  const log = join(folder, 'access.log')
  const sluice = join(ROOT, 'packages/cli/bin/sluice.js')
  const simulate = [
    process.execPath,
    sluice,
    'simulate',
    join(folder, 'rules.yaml'),
    '--log',
    log,
    '--format',
    'json',
  ]
  const command = {
    'sluice simulate': [...simulate, '--jobs', '1'],
    'sluice simulate, --jobs 2': [...simulate, '--jobs', '2'],
    'node:readline, counting': [process.execPath, '--input-type=module', '-e', READ_LINES, log],
    goaccess: ['goaccess', log, '--log-format=COMBINED', '--no-progress', '-o', join(folder, 'out.json')],
  }[candidate]
  const { error, stderr, status } = spawnSync('/usr/bin/time', ['-f', 'USED %e %U %S %M', ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 1e8,
  })
  const used = /USED (\S+) (\S+) (\S+) (\d+)\s*$/.exec(stderr)
  if (error !== undefined || status === 127)
    throw new Error(`${command[0]} or /usr/bin/time is not installed`)
  if (status !== 0 || used === null) throw new Error(`${candidate} ended with ${status}: ${stderr}`)
  const [wall, user, system, kilobytes] = used.slice(1).map(Number)
  return { us: ((user + system) * 1e6) / Number(lines), rate: Number(lines) / wall, mb: kilobytes / 1_024 }
}

function writeLog(path, atLeast) {
  const rows = gunzipSync(readFileSync(TRACE))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [stamp, day, month, year, hour, minute, second] = STAMP.exec(line)
      return {
        at: Date.parse(`${day} ${month} ${year} ${hour}:${minute}:${second} GMT`),
        parts: line.split(stamp),
      }
    })
    .sort((a, b) => a.at - b.at)
  const span = rows.at(-1).at - rows[0].at + 1_000
  const file = openSync(path, 'w')
  let lines = 0
  for (let copy = 0; lines < atLeast; copy++) {
    const text = rows.map(({ at, parts }) => parts.join(stampOf(at + copy * span)))
    writeSync(file, `${text.join('\n')}\n`)
    lines += rows.length
  }
  closeSync(file)
  return lines
}

function stampOf(ms) {
  const [, day, month, year, time] = new Date(ms).toUTCString().split(' ')
  return `[${day}/${month}/${year}:${time} +0000]`
}
