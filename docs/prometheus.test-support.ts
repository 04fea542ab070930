import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../packages/limiter/src/free-port.test-support.ts'
import { ROOT } from './page.ts'

const FILES = join(ROOT, 'deploy/prometheus')

/** One series of an answer, with its value now. */
interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/** A real Prometheus, with the project's own configuration and alerts. */
export interface Prometheus {
  query(expression: string): Promise<readonly Sample[]>
  // biome-ignore lint/suspicious/noExplicitAny: answers have shapes of others
  get(path: string): Promise<any>
  stop(): Promise<void>
}

/** @param targets `HOST:PORT` that are scraped every second */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'))
  const config = readFileSync(join(FILES, 'prometheus.yaml'), 'utf8')
    .replaceAll('interval: 15s', 'interval: 1s')
    .replace(/targets: \[.*\]/, `targets: ${JSON.stringify(targets)}`)
  writeFileSync(join(folder, 'prometheus.yaml'), config)
  cpSync(join(FILES, 'alerts.yaml'), join(folder, 'alerts.yaml'))
  const address = `127.0.0.1:${await freePort()}`
  const program = spawn('prometheus', [
    `--config.file=${folder}/prometheus.yaml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ])
  let printed = ''
  program.stderr.on('data', (chunk) => {
    printed += String(chunk)
  })
  const ended = once(program, 'exit')
  const get: Prometheus['get'] = async (path) => {
    // biome-ignore lint/suspicious/noExplicitAny: answers have shapes of others
    const answer: any = await (await fetch(`http://${address}${path}`)).json()
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }
  for (let tries = 0; ; tries++) {
    const ready = await fetch(`http://${address}/-/ready`).catch(() => undefined)
    if (ready?.ok) break
    if (program.exitCode !== null || tries === 300) throw new Error(`prometheus did not start: ${printed}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    get,
    async query(expression) {
      const { result } = await get(`/api/v1/query?query=${encodeURIComponent(expression)}`)
      return (result as { metric: Sample['metric']; value: [number, string] }[]).map(({ metric, value }) => ({
        metric,
        value: Number(value[1]),
      }))
    },
    async stop() {
      program.kill()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @returns exit status, and what it printed */
export function promtool(argv: readonly string[], input = ''): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync('promtool', argv, { input, encoding: 'utf8', cwd: ROOT })
  return { status, printed: stdout + stderr }
}
