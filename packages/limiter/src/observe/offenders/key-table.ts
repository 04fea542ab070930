const MOST_READ = 64

/**
 * A hash of a key, 32 bits. Of long keys it reads the two ends: equal hashes cost a comparison, and there are few keys
 * in a table.
 */
export function keyHash(key: string): number {
  const { length } = key
  let hash = length
  const front = length <= MOST_READ ? length : MOST_READ / 2
  for (let i = 0; i < front; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0
  if (length > MOST_READ) {
    for (let i = length - MOST_READ / 2; i < length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return hash ^ (hash >>> 13)
}

/**
 * Which of a few keys are there, at numbers from 0: open addressing, with a quarter of the places in use. A Map costs
 * three times as much where almost every key takes the place of another.
 */
export class KeyTable {
  /** A number and 1, or 0 for a free place. */
  readonly #places: Int32Array
  readonly #mask: number
  readonly #keys: string[] = []
  readonly #hashes: Int32Array

  /** @param most keys, ≥ 1 */
  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(4 * most))
    this.#places = new Int32Array(size)
    this.#mask = size - 1
    this.#hashes = new Int32Array(most)
  }

  get keys(): readonly string[] {
    return this.#keys
  }

  /** The number of a key; −1: it is not there. */
  find(key: string, hash: number): number {
    const places = this.#places
    for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const number = places[place]! - 1
      if (number < 0) return -1
      if (this.#hashes[number] === hash && this.#keys[number] === key) return number
    }
  }

  /** Puts a key that is not there at a number: the next one, or that of a key which then goes. */
  put(number: number, key: string, hash: number): void {
    if (number < this.#keys.length) this.#remove(number)
    this.#keys[number] = key
    this.#hashes[number] = hash
    let place = hash & this.#mask
    while (this.#places[place] !== 0) place = (place + 1) & this.#mask
    this.#places[place] = number + 1
  }

  clear(): void {
    this.#places.fill(0)
    this.#keys.length = 0
  }

  /** What stands behind it moves up, so that it is found from its own place on. */
  #remove(number: number): void {
    const places = this.#places
    const mask = this.#mask
    let free = this.#hashes[number]! & mask
    while (places[free] !== number + 1) free = (free + 1) & mask
    for (let place = (free + 1) & mask; places[place] !== 0; place = (place + 1) & mask) {
      const home = this.#hashes[places[place]! - 1]! & mask
      if (((place - home) & mask) < ((place - free) & mask)) continue
      places[free] = places[place]!
      free = place
    }
    places[free] = 0
  }
}
