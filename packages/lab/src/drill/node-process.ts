import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as elapsed } from 'node:timers/promises'

const MOST_OUTPUT = 10_000
const START_MS = 30_000
const STOP_MS = 5_000

/** The program under test, as a process of its own. */
export interface NodeProcess {
  /** Of its API, on loopback. */
  readonly port: number
  signal(name: NodeJS.Signals): void
  /** At once, as by `kill -9`. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface NodeOptions {
  readonly command: readonly string[]
  /** Where it will listen. */
  readonly port: number
  readonly env: Readonly<Record<string, string | undefined>>
  /** Its wall clock is so many milliseconds ahead. Programs for Node alone. */
  readonly aheadMs?: number | undefined
}

/**
 * Starts the command, and waits until it takes connections.
 * @throws Error with the last of what it printed, where it ends, or takes none within 30 s
 */
export async function startNode({ command, port, env, aheadMs = 0 }: NodeOptions): Promise<NodeProcess> {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    env: {
      ...env,
      ...(aheadMs !== 0 && { NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} ${clockAhead(aheadMs)}` }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own: what the command starts ends with it
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-MOST_OUTPUT)
    })
  let problem: string | undefined
  child.on('error', ({ message }) => {
    problem = message
  })
  child.on('exit', (code, signal) => {
    problem ??= `it ended with ${signal ?? code}:\n${printed}`
  })
  const deadline = performance.now() + START_MS
  while (!(await takesConnections(port))) {
    if (performance.now() > deadline) problem ??= `nothing listens at 127.0.0.1:${port}:\n${printed}`
    if (problem !== undefined) {
      await end(child, 'SIGKILL')
      throw new Error(`${file}: ${problem}`)
    }
    await elapsed(20)
  }
  return {
    port,
    signal: (name) => void child.kill(name),
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  }
}

/** A port of loopback that nobody uses. */
export async function freeLoopbackPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Moves `Date` of a program for Node, by a module that is loaded before it. */
function clockAhead(ms: number): string {
  const module = `const Real=Date;const now=()=>Real.now()+${ms};globalThis.Date=class Date extends Real{constructor(...a){a.length?super(...a):super(now())}static now(){return now()}}`
  return `--import=data:text/javascript,${encodeURIComponent(module)}`
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  signalGroup(child.pid, signal)
  const late = setTimeout(signalGroup, STOP_MS, child.pid, 'SIGKILL')
  await gone
  clearTimeout(late)
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

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
