/** Longest key that is kept as it is, in UTF-16 units: what a caller sends must not decide how much is kept. */
const LONGEST_KEY = 64

/**
 * A 64-bit keyed fingerprint of text: HalfSipHash-1-3 (Aumasson and Bernstein) over pairs of UTF-16 units, so no
 * string is copied or encoded. The key is random for each store, so no outsider can aim two keys at one
 * fingerprint; by chance any two of 10 million keys meet with probability 2.7e-6.
 */
export class Fingerprint {
  high = 0
  low = 0
  readonly #k0: number
  readonly #k1: number
  #last: string | undefined

  constructor(random: () => number) {
    this.#k0 = (random() * 0x1_0000_0000) | 0
    this.#k1 = (random() * 0x1_0000_0000) | 0
  }

  /** Leaves the fingerprint of `text` in `high` and `low`, as signed 32-bit integers, never both 0. */
  of(text: string): void {
    const isKnown = text === this.#last // a new key is asked for twice, and who asks much, again and again
    this.#last = text // also where it is known: the same object is compared sooner than an equal one
    if (!isKnown) this.#print(text)
  }

  /** The key itself, or its fingerprint where it is long, which is longer than any key that is kept whole. */
  short(key: string): string {
    if (key.length <= LONGEST_KEY) return key
    this.of(key)
    return `${this.high}.${this.low}.${key.length}`.padEnd(LONGEST_KEY + 1, '.')
  }

  #print(text: string): void {
    const { length } = text
    const paired = length - (length & 1)
    let v0 = this.#k0
    let v1 = this.#k1 ^ 0xee
    let v2 = 0x6c796765 ^ this.#k0
    let v3 = 0x74656462 ^ this.#k1
    for (let i = 0; i < paired; i += 2) {
      const word = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    // The same round for what is left, with the length, and three times without input. Written out again: a loop
    // that asks each time which round it is takes half as long again.
    let word = (length << 16) | (length & 1 ? text.charCodeAt(paired) : 0)
    for (let round = 0; round < 4; round++) {
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
      if (round > 0) continue
      word = 0
      v2 ^= 0xee
    }
    // Both outputs of one finish: v1 ^ v3 is the standard one, v0 ^ v2 replaces the second finish.
    this.high = v1 ^ v3
    this.low = v0 ^ v2
    if (this.high === 0 && this.low === 0) this.low = 1
  }
}
