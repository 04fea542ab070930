import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface WatchOptions {
  /**
   * Milliseconds for which files must have been left alone before they are loaded, at start and however a reload was
   * asked for: a file may be seen half written. Default 200.
   */
  readonly settleMs?: number
  /** Milliseconds between looks that no event asked for. Default 10,000. */
  readonly pollMs?: number
}

const SETTLE_MS = 200

/** The same without a watcher. */
export function settleMsOf(watch: boolean | WatchOptions = true): number {
  return typeof watch === 'object' ? (watch.settleMs ?? SETTLE_MS) : SETTLE_MS
}

/** Calls back once it runs, and whenever files of a rulebook have changed. */
export class RulesWatcher {
  readonly #paths: readonly string[]
  readonly #changed: () => void
  readonly #settleMs: number
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #poll: NodeJS.Timeout
  #settling: NodeJS.Timeout | undefined
  #seen: string | undefined
  #reported: string | undefined
  #closed = false

  constructor(
    paths: readonly string[],
    changed: () => void,
    { settleMs = SETTLE_MS, pollMs = 10_000 }: WatchOptions = {},
  ) {
    this.#paths = paths
    this.#changed = changed
    this.#settleMs = settleMs
    this.#poll = setInterval(() => void this.#look(), pollMs).unref()
    void this.#look()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#poll)
    clearTimeout(this.#settling)
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  async #look(): Promise<void> {
    const { state, folders } = await look(this.#paths)
    if (this.#closed) return
    this.#follow(folders)
    if (state !== this.#seen) this.#lookSoon()
    else if (state !== this.#reported) {
      this.#reported = state
      this.#changed()
    }
    this.#seen = state
  }

  #lookSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined
      void this.#look()
    }, this.#settleMs).unref()
  }

  #follow(folders: ReadonlySet<string>): void {
    for (const [folder, watcher] of this.#watchers) if (!folders.has(folder)) this.#drop(folder, watcher)
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#lookSoon())
        watcher.on('error', () => this.#drop(folder, watcher))
        this.#watchers.set(folder, watcher)
      } catch {
        // More folders than the system will watch, or none of its events for this one: the poll finds its changes.
      }
    }
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close()
    this.#watchers.delete(folder)
  }
}

/** `state` differs when any file does. */
async function look(paths: readonly string[]): Promise<{ state: string; folders: ReadonlySet<string> }> {
  const folders = new Set<string>()
  const visited = new Set<string>()
  const states: string[] = []
  const visit = async (path: string): Promise<void> => {
    const found = await stat(path).catch(() => undefined)
    if (found === undefined) states.push(`${path} -`)
    else if (!found.isDirectory()) states.push(`${path} ${found.ino} ${found.size} ${found.mtimeMs}`)
    else if (!visited.has(`${found.dev} ${found.ino}`)) {
      visited.add(`${found.dev} ${found.ino}`)
      folders.add(path)
      const names = await readdir(path).catch(() => [])
      for (const name of names.sort()) await visit(join(path, name))
    }
  }
  for (const path of paths) {
    // An editor replaces a file, and a mount a link: it is the folder around it that tells.
    folders.add(dirname(path))
    await visit(path)
  }
  return { state: states.join('\n'), folders }
}
