import { type FileHandle, open, rename, rm } from 'node:fs/promises'

/** Bytes of lines that wait to be written: more are dropped. */
const MOST_WAITING = 8 * 1_048_576
/** Bytes that are written at once. */
const MOST_AT_ONCE = 1_048_576

export interface RotatingFileOptions {
  readonly file: string
  /** Of one file: a line that would make it longer begins the next. */
  readonly maxBytes: number
  /** The one that is written to included; at least 1. */
  readonly maxFiles: number
  /** Bytes that may wait. Default 8 MiB. */
  readonly maxWaiting?: number
  /** Is called with lines that are lost, and why. */
  readonly onDrop: (lines: number, reason: string) => void
}

/**
 * Lines at the end of a file, which is replaced when it is full. Whoever writes never waits and never gets an error: lines
 * for which there is no room, in memory or on the disk, are dropped.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  #waiting: Buffer[] = []
  #bytes = 0
  #handle: FileHandle | undefined
  #size = 0
  #isCut = false
  #writing: Promise<void> | undefined
  #written = 0

  constructor(options: RotatingFileOptions) {
    this.#options = options
  }

  /** Lines that are in the file. */
  get written(): number {
    return this.#written
  }

  /** Opens the file, for whoever wants to know at once that it cannot be written to. @throws as the file system does */
  async open(): Promise<void> {
    this.#handle ??= await open(this.#options.file, 'a', 0o600)
    this.#size = (await this.#handle.stat()).size
  }

  /** @param line without its end */
  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`)
    const { maxWaiting = MOST_WAITING, onDrop } = this.#options
    if (this.#bytes + bytes.length > maxWaiting) {
      onDrop(1, 'the disk is too slow')
      return
    }
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    this.#writing ??= this.#writeAll()
  }

  /** Writes what waits, and closes the file. */
  async end(): Promise<void> {
    await this.#writing
    await this.#close()
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#take()
      try {
        await this.#append(lines)
        this.#written += lines.length
      } catch (error) {
        await this.#close()
        this.#isCut = true
        this.#options.onDrop(lines.length, (error as Error).message)
      }
      this.#bytes -= lengthOf(lines)
    }
    this.#writing = undefined
  }

  /** As many lines as fit into the file, and are written at once; at least one. */
  #take(): Buffer[] {
    let bytes = 0
    let count = 0
    for (const line of this.#waiting) {
      if (count > 0 && bytes + line.length > MOST_AT_ONCE) break
      if (count > 0 && this.#size + bytes + line.length > this.#options.maxBytes) break
      bytes += line.length
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #append(lines: readonly Buffer[]): Promise<void> {
    if (this.#handle === undefined) await this.open()
    const length = lengthOf(lines)
    if (this.#size > 0 && this.#size + length > this.#options.maxBytes) await this.#rotate()
    // Behind a line of which only a part was written.
    const all = this.#isCut && this.#size > 0 ? [NEW_LINE, ...lines] : lines
    await this.#handle!.appendFile(Buffer.concat(all))
    this.#isCut = false
    this.#size += length
  }

  async #rotate(): Promise<void> {
    const { file, maxFiles } = this.#options
    await this.#close()
    const name = (place: number): string => (place === 0 ? file : `${file}.${place}`)
    await rm(name(maxFiles - 1), { force: true })
    for (let place = maxFiles - 2; place >= 0; place--) {
      await rename(name(place), name(place + 1)).catch(unlessMissing)
    }
    await this.open()
  }

  async #close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close().catch(() => undefined)
  }
}

const NEW_LINE = Buffer.from('\n')

function lengthOf(lines: readonly Buffer[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
