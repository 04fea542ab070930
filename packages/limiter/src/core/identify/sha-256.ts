/**
 * SHA-256 (FIPS 180-4). In TypeScript, since not every runtime hashes synchronously; and as quick as Node's own for a
 * text of one block, where the call of it costs as much.
 */

/** The state before the first block. */
export function initialState(): Int32Array {
  return Int32Array.from(INITIAL)
}

/** SHA-256 of bytes: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return bytesOf(absorb(initialState(), bytes, 0))
}

/** The state after the last bytes of a message, `before` of which are in it already. */
export function absorb(state: Int32Array, rest: Uint8Array, before: number): Int32Array {
  const { length } = rest
  const padded = new Uint8Array(length - (length % 64) + (length % 64 < 56 ? 64 : 128))
  padded.set(rest)
  padded[length] = 0x80
  const bits = (before + length) * 8
  padded.set(bytesOf([bits / 2 ** 32, bits]), padded.length - 8)
  const next = Int32Array.from(state)
  const w = new Int32Array(64)
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) {
      const b = at + i * 4
      w[i] = (padded[b]! << 24) | (padded[b + 1]! << 16) | (padded[b + 2]! << 8) | padded[b + 3]!
    }
    compress(next, w)
  }
  return next
}

export function bytesOf(words: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(words.length * 4)
  for (let i = 0; i < bytes.length; i++) bytes[i] = words[i >> 2]! >>> (24 - 8 * (i & 3))
  return bytes
}

/** SHA-256 of texts one after the other, in room of its own: it allocates nothing. */
export class TextHash {
  readonly #state = new Int32Array(8)
  readonly #w = new Int32Array(64)

  /**
   * The hash of the text's UTF-16, low bytes first: in UTF-8 all lone surrogates would be one character.
   * @returns 8 words, to be read before the next call
   */
  of(text: string): Int32Array {
    const state = this.#state
    const w = this.#w
    const { length } = text
    state.set(INITIAL)
    let word = 0
    for (let i = 0; i <= length; i += 2) {
      w[word++] = (unitAt(text, i) << 16) | unitAt(text, i + 1)
      if (word === 16) {
        compress(state, w)
        word = 0
      }
    }
    if (word > 14) {
      w[15] = 0
      compress(state, w)
      word = 0
    }
    w.fill(0, word, 14)
    w[14] = length / 2 ** 28
    w[15] = length << 4
    compress(state, w)
    return state
  }
}

/** A unit as the bytes of a message; after the last of them the one that ends it. */
function unitAt(text: string, i: number): number {
  if (i >= text.length) return i === text.length ? 0x8000 : 0
  const unit = text.charCodeAt(i)
  return ((unit & 0xff) << 8) | (unit >> 8)
}

/** The work on one block, in `state` itself. @param w the block in its first 16 words, and room for the schedule */
export function compress(state: Int32Array, w: Int32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!
    const y = w[i - 2]!
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + (g ^ (e & (f ^ g))) + ROUND[i]! + w[i]!) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

/** Square roots of the first 8 primes, cube roots of the first 64: the first 32 bits of their fractions. */
const INITIAL = new Int32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
])
const ROUND = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])
