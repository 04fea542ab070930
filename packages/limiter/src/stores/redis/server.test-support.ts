import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A Redis server of a test's own: nothing is kept, and nobody else uses it. */
export interface RedisServer {
  readonly port: number
  stop(): Promise<void>
}

/**
 * Starts `redis-server` from PATH on a free port of the loopback interface.
 * @throws Error that says so where there is none, or it does not start
 */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-redis-'))
  for (let tries = 0; ; tries++) {
    const port = await freePort()
    const server = spawn('redis-server', [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'],
      ...options,
    ])
    const stop = async (): Promise<void> => {
      await ended(server, () => server.kill('SIGKILL'))
      await rm(dir, { recursive: true, force: true })
    }
    const problem = await started(server)
    if (problem === undefined) return { port, stop }
    await stop()
    if (tries === 2) throw new Error(`redis-server did not start: ${problem}`)
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** What kept the server from starting. */
function started(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let log = ''
    server.stdout!.on('data', (text) => {
      log += text
      if (log.includes('Ready to accept connections')) resolve(undefined)
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
