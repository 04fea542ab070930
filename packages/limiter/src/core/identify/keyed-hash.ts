import { absorb, bytesOf, compress, initialState, sha256 } from './sha-256.ts'
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

function afterBlock(block: Uint8Array): Int32Array {
  const state = initialState()
  const w = new Int32Array(64)
  for (let i = 0; i < block.length; i++) w[i >> 2]! |= block[i]! << (24 - 8 * (i & 3))
  compress(state, w)
  return state
}

/** A key fills one block; a longer one counts by its hash. */
function keyBlock(secret: string): Uint8Array {
  const bytes = utf8(secret)
  const block = new Uint8Array(64)
  block.set(bytes.length > 64 ? sha256(bytes) : bytes)
  return block
}

function hex(words: Int32Array): string {
  let text = ''
  for (let i = 0; i < words.length; i++) text += (words[i]! >>> 0).toString(16).padStart(8, '0')
  return text
}
