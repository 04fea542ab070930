// Lines of an access log in a second: one fixed window by address, beside a plain line reader of Node and goaccess.
//   npm run build && node bench/simulate.mjs [MILLIONS OF LINES, default 1] [ROUNDS, default 3]
// The log is a trace, repeated with shifted times. A second is one of a core (user and system time of the process).
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  createReadStream,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

const ROOT = join(import.meta.dirname, '..')
const TRACE = join(ROOT, 'packages/lab/fixtures/traces/apache-combined-2015.log.gz')
const STAMP = /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) \+0000\]/

if (process.argv[2] === 'read-lines') await readLines(process.argv[3])
else await compare(Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 3))

async function compare(millions, rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const log = join(folder, 'access.log')
    const lines = writeLog(log, millions * 1e6)
    const rules = join(folder, 'rules.yaml')
    writeFileSync(
      rules,
      'domain: bench\nlimits: [{ name: address, key: [ip], limit: 100/minute, algorithm: fixed-window }]\n',
    )
    const sluice = join(ROOT, 'packages/cli/bin/sluice.js')
    const simulate = [process.execPath, sluice, 'simulate', rules, '--log', log, '--format', 'json']
    const programs = {
      'sluice simulate': [...simulate, '--jobs', '1'],
      'sluice simulate, --jobs 2': [...simulate, '--jobs', '2'],
      'node:readline, counting': [process.execPath, fileURLToPath(import.meta.url), 'read-lines', log],
      goaccess: ['goaccess', log, '--log-format=COMBINED', '--no-progress', '-o', join(folder, 'out.json')],
    }
    const found = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, command] of Object.entries(programs)) {
        const used = timesOf(command)
        if (used !== undefined) found[name] = [...(found[name] ?? []), used]
      }
    }
    const rows = Object.entries(found).map(([name, all]) => {
      const best = all.reduce((a, b) => (b.cpu < a.cpu ? b : a))
      return {
        program: name,
        'lines/s and core': Math.round(lines / best.cpu),
        'lines/s': Math.round(lines / best.wall),
        'MB at most': best.megabytes,
      }
    })
    console.log(`${lines} lines, best of ${rounds}`)
    console.table(rows)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Seconds and megabytes of a command; `undefined` where it is not installed. */
function timesOf(command) {
  const { error, stderr, status } = spawnSync('/usr/bin/time', ['-f', 'USED %e %U %S %M', ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 1e8,
  })
  if (error !== undefined) throw error
  const used = /USED (\S+) (\S+) (\S+) (\d+)\s*$/.exec(stderr)
  if (status === 127) return undefined
  if (status !== 0 || used === null) throw new Error(`${command[0]} ended with ${status}: ${stderr}`)
  const [wall, user, system, kilobytes] = used.slice(1).map(Number)
  return { wall, cpu: user + system, megabytes: Math.round(kilobytes / 1_024) }
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

async function readLines(path) {
  let lines = 0
  for await (const _ of createInterface({ input: createReadStream(path) })) lines++
  console.log(lines)
}
