import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import type { ExitCode } from './command.ts'
import type { Io } from './io.ts'
import { main } from './main.ts'

export interface Ran {
  readonly code: ExitCode
  readonly out: string
  readonly err: string
}

/** Runs a command line in process, with nothing of this process but its files. */
export async function runLine(
  argv: readonly string[],
  stdin: string | Buffer = '',
  env: Io['env'] = {},
): Promise<Ran> {
  const { io, out, err } = fakeIo(stdin, env)
  const code = await main(argv, io)
  return { code, out: out(), err: err() }
}

export interface FakeIo {
  readonly io: Io
  /** What has been written so far. */
  readonly out: () => string
  readonly err: () => string
  readonly signal: (name: NodeJS.Signals) => boolean
}

export function fakeIo(stdin: string | Buffer = '', env: Io['env'] = {}): FakeIo {
  const signals = new EventEmitter()
  const stdout = recorder()
  const stderr = recorder()
  const io: Io = {
    stdin: Readable.from([Buffer.from(stdin as string)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    on: (name, listener) => signals.on(name, listener),
    off: (name, listener) => signals.off(name, listener),
  }
  return { io, out: stdout.text, err: stderr.text, signal: (name) => signals.emit(name) }
}

function recorder(): { stream: PassThrough; text: () => string } {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return { stream, text: () => text }
}
