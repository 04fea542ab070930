import { utf8 } from './utf8.ts'

/** 128 bits of a text as 32 hex digits. */
export type Hash = (text: string) => string

/**
 * HMAC-SHA-256 (RFC 2104, FIPS 180-4) of the text's UTF-8, cut to its first 128 bits. Without the secret nobody
 * can tell what was hashed, nor make two texts that meet. An empty secret still hashes, but hides only what
 * cannot be guessed.
 */
export function keyedHash(secret: string): Hash {
  const key = keyBlock(secret)
  const inner = afterBlock(key.map((byte) => byte ^ 0x36))
  const outer = afterBlock(key.map((byte) => byte ^ 0x5c))
  return (text) => hex(absorb(outer, bytesOf(absorb(inner, utf8(text), 64)), 64).subarray(0, 4))
}

/** SHA-256 (FIPS 180-4) of bytes: 32 bytes. In TypeScript, since not every runtime hashes synchronously. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return bytesOf(absorb(INITIAL, bytes, 0))
}

function afterBlock(block: Uint8Array): Int32Array {
  const state = Int32Array.from(INITIAL)
  compress(state, block, 0, new Int32Array(64))
  return state
}

/** A key fills one block; a longer one counts by its hash. */
function keyBlock(secret: string): Uint8Array {
  const bytes = utf8(secret)
  const block = new Uint8Array(64)
  block.set(bytes.length > 64 ? sha256(bytes) : bytes)
  return block
}

/** The state after the last bytes of a message, `before` of which are in it already. */
function absorb(state: Int32Array, rest: Uint8Array, before: number): Int32Array {
  const { length } = rest
  const padded = new Uint8Array(length - (length % 64) + (length % 64 < 56 ? 64 : 128))
  padded.set(rest)
  padded[length] = 0x80
  const bits = (before + length) * 8
  padded.set(bytesOf([bits / 2 ** 32, bits]), padded.length - 8)
  const next = Int32Array.from(state)
  const w = new Int32Array(64)
  for (let at = 0; at < padded.length; at += 64) compress(next, padded, at, w)
  return next
}

/** SHA-256's work on one block, in `state` itself. @param w room for the message schedule, 64 words */
function compress(state: Int32Array, bytes: Uint8Array, at: number, w: Int32Array): void {
  for (let i = 0; i < 16; i++) {
    const b = at + i * 4
    w[i] = (bytes[b]! << 24) | (bytes[b + 1]! << 16) | (bytes[b + 2]! << 8) | bytes[b + 3]!
  }
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
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i]! + w[i]!) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
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

function bytesOf(words: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(words.length * 4)
  for (let i = 0; i < bytes.length; i++) bytes[i] = words[i >> 2]! >>> (24 - 8 * (i & 3))
  return bytes
}

function hex(words: Int32Array): string {
  let text = ''
  for (let i = 0; i < words.length; i++) text += (words[i]! >>> 0).toString(16).padStart(8, '0')
  return text
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
