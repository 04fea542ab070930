import type { LineFields } from './line-fields.ts'

const MOST_ENTRIES = 1 << 18
const TABLE = MOST_ENTRIES * 2
const MOST_BYTES = 1 << 25
const ABSENT = 0xffffff

/**
 * Remembers what was made of lines that have the same bytes in some of their fields: a rule gives equal requests equal
 * answers. Bounded; when it is full it begins anew.
 */
export class LineMemo<T> {
  readonly #places: Int32Array
  readonly #table = new Int32Array(TABLE)
  readonly #hashes = new Int32Array(MOST_ENTRIES)
  readonly #ends = new Int32Array(MOST_ENTRIES + 1)
  #values: T[] = []
  #kept: Uint8Array = new Uint8Array(1 << 16)
  #key: Uint8Array = new Uint8Array(1 << 10)
  #length = 0
  #hash = 0
  readonly #seed: number
  #clears = 0

  /** @param places of the fields that count */
  constructor(places: readonly number[], random: () => number = Math.random) {
    this.#places = Int32Array.from(places)
    this.#seed = (random() * 0x1_0000_0000) | 0
  }

  /** How often it has begun anew. */
  get clears(): number {
    return this.#clears
  }

  /** What was kept for such a line. */
  get(line: LineFields): T | undefined {
    this.#read(line)
    const hash = this.#hash
    for (let slot = hash & (TABLE - 1); ; slot = (slot + 1) & (TABLE - 1)) {
      const entry = this.#table[slot]! - 1
      if (entry < 0) return undefined
      if (this.#hashes[entry] === hash && this.#isKey(entry)) return this.#values[entry]
    }
  }

  /** Keeps a value for the line that was asked for last. */
  keep(value: T): void {
    const end = this.#ends[this.#values.length]! + this.#length
    if (this.#values.length === MOST_ENTRIES || end > MOST_BYTES) this.#clear()
    const entry = this.#values.length
    const start = this.#ends[entry]!
    if (start + this.#length > this.#kept.length) this.#kept = grown(this.#kept, start + this.#length)
    this.#kept.set(this.#key.subarray(0, this.#length), start)
    this.#ends[entry + 1] = start + this.#length
    this.#hashes[entry] = this.#hash
    this.#values.push(value)
    let slot = this.#hash & (TABLE - 1)
    while (this.#table[slot] !== 0) slot = (slot + 1) & (TABLE - 1)
    this.#table[slot] = entry + 1
  }

  /** Each field's length, so that no two lines meet, and its bytes. */
  #read({ bytes, from, to }: LineFields): void {
    const places = this.#places
    let key = this.#key
    let hash = this.#seed
    let length = 0
    for (let p = 0; p < places.length; p++) {
      const start = from[places[p]!]!
      const size = start < 0 ? ABSENT : to[places[p]!]! - start
      if (length + 3 + size > key.length && size !== ABSENT) key = this.#key = grown(key, length + 3 + size)
      else if (length + 3 > key.length) key = this.#key = grown(key, length + 3)
      key[length++] = size
      key[length++] = size >> 8
      key[length++] = size >> 16
      hash = Math.imul(hash ^ size, 0x01000193)
      if (size === ABSENT) continue
      for (let i = start; i < start + size; i++) {
        const byte = bytes[i]!
        key[length++] = byte
        hash = Math.imul(hash ^ byte, 0x01000193)
      }
    }
    this.#length = length
    this.#hash = hash ^ (hash >>> 15)
  }

  #isKey(entry: number): boolean {
    const start = this.#ends[entry]!
    if (this.#ends[entry + 1]! - start !== this.#length) return false
    for (let i = 0; i < this.#length; i++) if (this.#kept[start + i] !== this.#key[i]) return false
    return true
  }

  #clear(): void {
    this.#clears++
    this.#table.fill(0)
    this.#values = []
  }
}

function grown(bytes: Uint8Array, least: number): Uint8Array {
  const larger = new Uint8Array(Math.max(least, bytes.length * 2))
  larger.set(bytes)
  return larger
}
