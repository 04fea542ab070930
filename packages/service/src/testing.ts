import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import type { Store } from '@sluice/limiter/stores/store'
import { FakeClock } from '@sluice/limiter/testing'
import type { App } from './app.ts'
import { assemble, type ServiceParts } from './assemble.ts'
import { type LoadRules, loadHere } from './rules/load-rules.ts'
import type { ServiceOptions } from './service-options.ts'

/** A folder of rules that goes away after the test. */
export async function rulesFolder(files: Readonly<Record<string, string>>): Promise<RulesFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-rules-'))
  const write = (name: string, text: string): Promise<void> => writeFile(join(path, name), text)
  for (const [name, text] of Object.entries(files)) await write(name, text)
  return { path, write, remove: () => rm(path, { recursive: true, force: true }) }
}

export interface RulesFolder {
  readonly path: string
  write(name: string, text: string): Promise<void>
  remove(): Promise<void>
}

/** A service without sockets; its clock only moves when a test sets it. */
export interface ServiceBench extends ServiceParts {
  readonly clock: FakeClock
  readonly store: MemoryStore
  readonly folder: RulesFolder
  close(): Promise<void>
}

export async function bench(
  rulebook: string,
  options: Omit<Partial<ServiceOptions>, 'rules'> = {},
  reload: LoadRules = loadHere,
): Promise<ServiceBench> {
  const folder = await rulesFolder({ 'rules.yaml': rulebook })
  const clock = new FakeClock()
  const store = new MemoryStore({ clock })
  const parts = assemble(
    {
      rules: [folder.path],
      store,
      wallClock: () => clock.now() / 1_000,
      watch: { settleMs: 0 },
      log: { level: 'silent' },
      ...options,
    },
    () => false,
    reload,
  )
  const loaded = await parts.rules.reload()
  if (loaded.result === 'refused') throw loaded.error
  return {
    ...parts,
    clock,
    store,
    folder,
    async close() {
      await Promise.all([parts.http.close(), parts.admin.close(), folder.remove()])
    },
  }
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

/** Posts a body, which is sent as it is when it is text. */
export async function post(
  app: App,
  url: string,
  body: unknown,
  contentType = 'application/json',
): Promise<Answered> {
  const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const {
    statusCode,
    headers,
    body: text,
  } = await app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': contentType },
  })
  return { status: statusCode, headers, body: text === '' ? undefined : JSON.parse(text) }
}

export async function get(app: App, url: string): Promise<Answered> {
  const { statusCode, headers, body } = await app.inject({ method: 'GET', url })
  return { status: statusCode, headers, body: JSON.parse(body) }
}

/** Lets decisions through only while it is open. */
export class GatedStore implements Store<true> {
  readonly async = true as const
  readonly memory: MemoryStore = new MemoryStore()
  readonly #waiting: (() => void)[] = []
  #open = true

  get waiting(): number {
    return this.#waiting.length
  }

  shut(): void {
    this.#open = false
  }

  open(): void {
    this.#open = true
    for (const go of this.#waiting.splice(0)) go()
  }

  async decide(...args: Parameters<MemoryStore['decide']>): ReturnType<Store<true>['decide']> {
    if (!this.#open && !args[1]) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.memory.decide(...args)
  }

  async settle(...args: Parameters<MemoryStore['settle']>): Promise<boolean> {
    return this.memory.settle(...args)
  }

  async reset(...args: Parameters<MemoryStore['reset']>): Promise<void> {
    this.memory.reset(...args)
  }

  async block(...args: Parameters<MemoryStore['block']>): Promise<void> {
    this.memory.block(...args)
  }

  async close(): Promise<void> {
    this.memory.close()
  }
}
