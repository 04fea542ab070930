import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '../../../../..')

/** What is to be stopped after a test, last first. */
export class Cleanup {
  readonly #all: (() => Promise<unknown> | unknown)[] = []

  add(stop: () => Promise<unknown> | unknown): void {
    this.#all.push(stop)
  }

  async run(): Promise<void> {
    for (const stop of this.#all.splice(0).reverse()) await stop()
  }
}

/** An app that tells what reached it, and closes the connection on which it is asked for `/die`. */
export interface App {
  readonly port: number
  /** How often it was asked for that. */
  readonly deaths: number
}

export async function startApp(cleanup: Cleanup): Promise<App> {
  let deaths = 0
  const app = createServer((request, response) => {
    let body = 0
    request.on('data', (chunk: Buffer) => {
      body += chunk.length
    })
    request.on('end', () => {
      if (request.url === '/die') {
        deaths++
        request.socket.destroy()
        return
      }
      const { method, url, headers } = request
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ method, url, headers, body }))
    })
  }).listen(0, '127.0.0.1')
  await once(app, 'listening')
  cleanup.add(() => {
    app.closeAllConnections()
    return new Promise((resolve) => app.close(resolve))
  })
  const { port } = app.address() as AddressInfo
  return {
    port,
    get deaths() {
      return deaths
    },
  }
}

/** A program that a test stops, lets go on, kills and starts again. */
export interface Program {
  pause(): void
  resume(): void
  /** At once, as by `kill -9`. */
  kill(): Promise<void>
  start(): Promise<void>
  /** What it has printed. */
  readonly printed: string
}

/** @param ports on which it takes connections once it has started */
export async function startProgram(
  cleanup: Cleanup,
  command: readonly [string, ...string[]],
  ports: readonly number[],
  folder: string = ROOT,
): Promise<Program> {
  const env = { ...process.env, PATH: [programs, process.env.PATH, '/usr/sbin'].join(':') }
  let printed = ''
  let child: ChildProcess
  let problem: string | undefined
  const start = async (): Promise<void> => {
    problem = undefined
    const [file, ...args] = command
    child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed = (printed + text).slice(-100_000)
      })
    child.on('error', ({ message }) => {
      problem = `${message}; has \`node scripts/setup-tests.mjs\` been run?`
    })
    child.on('exit', (code) => {
      problem = `${file} ended with ${code}:\n${printed}`
    })
    for (const port of ports) {
      while (!(await takesConnections(port))) {
        if (problem !== undefined) throw new Error(problem)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await gone
    clearTimeout(timer)
  }
  const kill = (): Promise<void> => end('SIGKILL')
  cleanup.add(() => end('SIGTERM')) // nginx ends its workers then, and only then
  await start()
  return {
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    start,
    get printed() {
      return printed
    },
  }
}

/** Where `npm test` puts what Debian does not have. */
const programs = join(ROOT, 'node_modules/.cache/programs')

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** The ports that every example has. */
export interface Ports {
  readonly proxy: number
  readonly limiter: number
  readonly grpc: number
  readonly app: number
}

/** A copy of an example's folder, on other ports. @param change what else differs */
export function copyOfExample(
  cleanup: Cleanup,
  name: string,
  { proxy, limiter, grpc, app }: Ports,
  change: (text: string) => string = (text) => text,
): string {
  const folder = mkdtempSync(join(tmpdir(), `sluice-${name}-`))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(ROOT, 'examples', name), folder, { recursive: true })
  const ports: Readonly<Record<string, number>> = { 8000: proxy, 8080: limiter, 8081: grpc, 3000: app }
  for (const file of readdirSync(folder)) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8').replace(/\b(?:8000|8080|8081|3000)\b/g, (port) =>
      String(ports[port]),
    )
    writeFileSync(path, change(text))
  }
  return folder
}
