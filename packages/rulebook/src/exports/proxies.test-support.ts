import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createLimiter, MemoryStore, type Policy } from '@sluice/limiter'
import { FakeClock } from '@sluice/limiter/testing'
import { loadText } from '../load.ts'
import { type ExportOptions, type ExportTargetName, exportRules } from './export.ts'
import type { Exported } from './target.ts'

/** Where setup-tests.mjs puts programs, and where Debian has those for administrators. */
const PROGRAMS: string = join(import.meta.dirname, '../../../../node_modules/.cache/programs')
export const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${PROGRAMS}:${process.env.PATH}:/usr/sbin:/sbin`,
}

/** Names that would be something else where they stand unescaped. */
export const HOSTILE_NAMES: readonly string[] = [
  '"; } deny all; #',
  "' } ; drop #",
  '\\',
  'a\\\\',
  `\`id\` $(id) $\{x} $y %[src]`,
  '{"a":[1]} - b: c',
  '~^.*$',
  '-j ACCEPT',
  '*',
  '404',
  'include /etc/passwd',
]

/** What is exported of the only domain in a rulebook's text. */
export function exported(target: ExportTargetName, rulebook: string, options: ExportOptions = {}): Exported {
  const [domain] = loadText(rulebook)
  return exportRules(target, domain!, options)
}

/** Runs a program to its end. @returns its exit code, and all that it said */
export function run(program: string, args: readonly string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, said: `${stdout}${stderr}${code === -1 ? error : ''}` })
    })
  })
}

/** A folder with files, removed when `body` is done. */
export async function inFolder<T>(
  files: Readonly<Record<string, string>>,
  body: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-export-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An application behind the proxy. `/slow…` is answered after some time. */
export async function upstream<T>(slowMs: number, body: (port: number) => Promise<T>): Promise<T> {
  const server = createServer((asked, answer) => {
    if (asked.url?.startsWith('/slow')) setTimeout(() => answer.end('ok\n'), slowMs)
    else answer.end('ok\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await body((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Runs a program until `body` is done, once something answers at the port. */
export async function running<T>(
  program: string,
  args: readonly string[],
  port: number,
  body: () => Promise<T>,
): Promise<T> {
  const child: ChildProcess = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
  let ended: string | undefined
  const end = new Promise<void>((resolve) => {
    const noted = (message: string): void => {
      ended = message
      resolve()
    }
    child.once('error', ({ message }) => noted(message))
    child.once('exit', (code) => noted(`${program} ended with ${code}`))
  })
  try {
    while ((await ask(port, { path: '/-/ready' })) === 0) {
      if (ended !== undefined) throw new Error(`${ended}: ${said}`)
      await wait(50)
    }
    return await body()
  } finally {
    child.kill('SIGTERM')
    await end
  }
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The client's own address, of 127.0.0.0/8. */
  readonly from?: string
  readonly agent?: Agent
}

/** One request. @returns its status; 0 where there was no answer */
export function ask(
  port: number,
  { method = 'GET', path = '/', headers = {}, from, agent }: Asked,
): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers,
        ...(from !== undefined && { localAddress: from }),
        ...(agent === undefined ? { agent: false } : { agent }),
      },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
        answer.on('error', () => resolve(0))
      },
    )
    asked.on('error', () => resolve(0))
    asked.end()
  })
}

/** How many of the same requests, one after the other, were served; the rest must have been refused with 429. */
export async function served(
  port: number,
  count: number,
  asked: Asked | ((i: number) => Asked),
): Promise<number> {
  let passed = 0
  for (let i = 0; i < count; i++) {
    const status = await ask(port, typeof asked === 'function' ? asked(i) : asked)
    if (status === 200) passed += 1
    else if (status !== 429) throw new Error(`answered ${status}`)
  }
  return passed
}

/** How many of so many requests at once were served. */
export async function servedAtOnce(port: number, count: number, asked: Asked): Promise<number> {
  const statuses = await Promise.all(Array.from({ length: count }, () => ask(port, asked)))
  const odd = statuses.find((status) => status !== 200 && status !== 429)
  if (odd !== undefined) throw new Error(`answered ${odd}`)
  return statuses.filter((status) => status === 200).length
}

/**
 * A sequence of calls, and ours beside it: batches, each as far from the edges of ours as can be. The proxy decides at
 * some instant while we wait for its answer: where ours changes meanwhile, both answers are right. Ours is charged for
 * what the proxy let pass.
 * @param batches how many calls each batch has, and how many steps it comes after what is due next
 * @returns of the calls, how many were decided alike
 */
export async function agreement(
  policy: Policy,
  batches: readonly (readonly [calls: number, steps: number])[],
  call: () => Promise<boolean>,
): Promise<{ calls: number; alike: number; admitted: number }> {
  const clock = new FakeClock(0)
  const limiter = createLimiter({ store: new MemoryStore({ clock }), policies: { one: policy } })
  const step = (policy.period as number) / policy.limit
  const began = performance.now()
  const admits = (): boolean => {
    clock.set(Math.round((performance.now() - began) * 1_000))
    return limiter.peek('one').allowed
  }
  let calls = 0
  let alike = 0
  let admitted = 0
  for (const [count, steps] of batches) {
    for (let i = 0; i < count; i++) {
      const before = admits()
      const theirs = await call()
      const after = admits()
      calls += 1
      if (theirs === before || theirs === after) alike += 1
      if (theirs) admitted += 1
      if (theirs) limiter.check('one')
    }
    await wait((limiter.peek('one').moreAfterMs ?? 0) + step * (steps + 0.5))
  }
  return { calls, alike, admitted }
}

/** Keeps its connection open. */
export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}
