import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../free-port.test-support.ts'

/** A Redis server of a test's own: nothing is kept, and nobody else uses it. */
export interface RedisServer {
  readonly port: number
  /** Stands still, with its connections open, until it is resumed. */
  pause(): void
  resume(): void
  /** Dies at once, as by `kill -9`. */
  kill(): Promise<void>
  /** Starts again after `kill`, empty, on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts `redis-server` from PATH on a free port of the loopback interface.
 * @throws Error that says so where there is none, or it does not start
 */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  return startServer((port, dir) => [
    'redis-server',
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'],
    ...options,
  ])
}

/** @param command with its arguments, for a free port and a folder of its own */
export async function startServer(
  command: (port: number, dir: string) => readonly string[] | Promise<readonly string[]>,
): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-redis-'))
  for (let tries = 0; ; tries++) {
    const port = await freePort()
    const [file, ...args] = (await command(port, dir)) as [string, ...string[]]
    let server = spawn(file, args)
    const kill = (): Promise<void> => ended(server, () => server.kill('SIGKILL'))
    const stop = async (): Promise<void> => {
      await kill()
      await rm(dir, { recursive: true, force: true })
    }
    const restart = async (): Promise<void> => {
      server = spawn(file, args)
      const problem = await started(server)
      if (problem !== undefined) throw new Error(`${file} did not start again: ${problem}`)
    }
    const problem = await started(server)
    if (problem === undefined) {
      const pause = (): void => void server.kill('SIGSTOP')
      const resume = (): void => void server.kill('SIGCONT')
      return { port, pause, resume, kill, restart, stop }
    }
    await stop()
    if (tries === 2) throw new Error(`${file} did not start: ${problem}`)
  }
}

/** What kept the server from starting. */
function started(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let log = ''
    server.stdout!.on('data', (text) => {
      log += text
      if (/Ready to accept connections|Sentinel ID is/.test(log)) resolve(undefined)
    })
    server.on('error', ({ message }) => resolve(`${message}; is it on PATH?`))
    server.on('exit', () => resolve(log.slice(-500)))
  })
}

async function ended(server: ChildProcess, end: () => void): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
  const exit = new Promise((resolve) => server.once('exit', resolve))
  end()
  await exit
}
