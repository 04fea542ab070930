import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, inFolder } from './proxies.test-support.ts'

/** A network of its own, with a firewall of its own: what runs in it reaches nothing of this machine. */
export interface Namespace {
  /** Runs a program in it to its end. @returns what it said @throws where it fails */
  run(program: string, ...args: string[]): Promise<string>
  /** Runs JavaScript in it, and reads what it prints at its end as JSON. */
  script<T>(code: string, ...args: (string | number)[]): Promise<T>
  /** Runs JavaScript in it until all is done, once it has printed a line. @returns what it printed so far, when asked */
  serve(code: string, ...args: (string | number)[]): Promise<() => string>
  /** Starts a program in it, whose standard input is the caller's to write. */
  start(program: string, ...args: string[]): ChildProcess
}

/** A server's namespace and some clients', each on a cable of its own: 10.0.N.1 and 10.0.N.2, fd00:N::1 and fd00:N::2. */
export async function inNamespaces(
  clients: number,
  body: (server: Namespace, clients: readonly Namespace[], folder: string) => Promise<void>,
): Promise<void> {
  const children: ChildProcess[] = []
  try {
    await inFolder({}, async (folder) => {
      const server = await opened('unshare', ['-rn'])
      const all: Namespace[] = []
      for (let n = 1; n <= clients; n++) {
        const pid = server.pid
        const client = await opened('nsenter', [
          `-t${pid}`,
          '-U',
          '-n',
          '--preserve-credentials',
          'unshare',
          '-n',
        ])
        const ends = [
          [server, 'add', 1],
          [client, undefined, 2],
        ] as const
        await server.run(
          'ip',
          'link',
          'add',
          `c${n}`,
          'type',
          'veth',
          'peer',
          'name',
          'c0',
          'netns',
          String(client.pid),
        )
        for (const [end, , host] of ends) {
          const device = host === 1 ? `c${n}` : 'c0'
          await end.run('ip', 'address', 'add', `10.0.${n}.${host}/24`, 'dev', device)
          await end.run('ip', 'address', 'add', `fd00:${n}::${host}/64`, 'dev', device, 'nodad')
          await end.run('ip', 'link', 'set', device, 'up')
          await end.run('ip', 'link', 'set', 'lo', 'up')
        }
        all.push(client)
      }
      await body(server, all, folder)

      async function opened(program: string, args: readonly string[]): Promise<Namespace & { pid: number }> {
        const child = spawn(program, [...args, 'sh', '-c', 'echo ready; exec sleep infinity'], {
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        children.push(child)
        await Promise.race([
          once(child.stdout, 'data'),
          once(child, 'exit').then(() => Promise.reject(new Error(`${program} could not open a namespace`))),
        ])
        return namespaceOf(child.pid!, folder, children)
      }
    })
  } finally {
    for (const child of children.reverse()) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
  }
}

function namespaceOf(pid: number, folder: string, children: ChildProcess[]): Namespace & { pid: number } {
  const inside = [`-t${pid}`, '-U', '-n', '--preserve-credentials']
  let scripts = 0
  const written = (code: string): string => {
    const path = join(folder, `${pid}-${scripts++}.mjs`)
    writeFileSync(path, code)
    return path
  }
  const run = (program: string, ...args: string[]): Promise<string> =>
    new Promise((resolve, reject) =>
      execFile('nsenter', [...inside, program, ...args], { env }, (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(`${program}: ${stderr}${stdout}`)),
      ),
    )
  return {
    pid,
    run,
    script: async (code, ...args) =>
      JSON.parse(await run(process.execPath, written(code), ...args.map(String))),
    start(program, ...args) {
      const child = spawn('nsenter', [...inside, program, ...args], { env })
      children.push(child)
      return child
    },
    async serve(code, ...args) {
      const child = spawn('nsenter', [...inside, process.execPath, written(code), ...args.map(String)], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      let said = ''
      child.stdout.on('data', (text) => {
        said += text
      })
      await once(child.stdout, 'data')
      return () => said
    },
  }
}

/** Listens on ports, and keeps what connects. */
export const LISTENER = `
import { createServer } from 'node:net'
const ports = process.argv.slice(2)
let left = ports.length
for (const port of ports) createServer((socket) => socket.on('error', () => {}).resume()).listen(port, '::', () => --left || console.log('ready'))
`

/**
 * Connects so many times at once to HOST PORT COUNT MS [FIRST SOURCES], then looks after so many milliseconds how many
 * did; with sources, from FIRST with a growing last group.
 */
export const CONNECTOR = `
import { connect } from 'node:net'
const [host, port, count, ms, from] = process.argv.slice(2)
const began = performance.now()
let connected = 0
let reset = 0
const sockets = Array.from({ length: Number(count) }, (_, i) => {
  const localAddress = from && from + (from.includes(':') ? i.toString(16) : i)
  const socket = connect({ host, port: Number(port), localAddress })
  socket.on('connect', () => connected++)
  socket.on('error', () => reset++)
  return socket
})
const sent = performance.now() - began
// Where the machine stood still meanwhile, what has come is looked at first.
setTimeout(() => setTimeout(() => {
  console.log(JSON.stringify({ connected, reset, ms: performance.now() - began }))
  for (const socket of sockets) socket.destroy()
  process.exit()
}, 50), Number(ms))
`
