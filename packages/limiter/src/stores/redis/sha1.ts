import { utf8 } from '../../core/identify/utf8.ts'

/**
 * SHA-1 (FIPS 180-4) of a text's UTF-8 as hex digits: the name that Redis gives to a script. In TypeScript, since not
 * every runtime hashes synchronously.
 */
export function sha1(text: string): string {
  const bytes = utf8(text)
  const blocks = ((bytes.length + 8) >> 6) + 1
  const message = new DataView(new ArrayBuffer(blocks * 64))
  bytes.forEach((byte, i) => {
    message.setUint8(i, byte)
  })
  message.setUint8(bytes.length, 0x80)
  message.setUint32(blocks * 64 - 4, bytes.length * 8)
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
  for (let block = 0; block < blocks; block++) compress(state, message, block * 64)
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function compress(state: number[], message: DataView, at: number): void {
  const words: number[] = []
  let [a, b, c, d, e] = state as [number, number, number, number, number]
  for (let i = 0; i < 80; i++) {
    const word =
      i < 16
        ? message.getInt32(at + i * 4)
        : rotate(words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!, 1)
    words.push(word)
    const next = (rotate(a, 5) + mixed(i, b, c, d) + e + word) | 0
    ;[a, b, c, d, e] = [next, a, rotate(b, 30), c, d]
  }
  ;[a, b, c, d, e].forEach((word, i) => {
    state[i] = (state[i]! + word) | 0
  })
}

/** The function and the constant of a round, 20 rounds each. */
function mixed(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
  return (b ^ c ^ d) + 0xca62c1d6
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}
