import { createHmac, randomBytes } from 'node:crypto'
import { ipKey, parseAddress } from '@sluice/limiter/address'

/** Most texts, and most addresses, of which the hashes are remembered. */
const MOST_KEPT = 10_000
const MOST_LENGTH = 256

/**
 * Stands in for texts and addresses, by a keyed hash (HMAC-SHA-256): equal ones stay equal, so that rules that count by
 * them count as before.
 */
export class Pseudonyms {
  readonly #secret: string | Buffer
  readonly #texts = new Map<string, string>()
  readonly #addresses = new Map<string, string>()

  /** @param secret Default: one of this process, so that another one writes other hashes */
  constructor(secret: string | Buffer = randomBytes(32)) {
    this.#secret = secret
  }

  /** `~` and 128 bits in hexadecimal digits. */
  text(value: string): string {
    return kept(this.#texts, value, () => `~${this.#hash(`text\0${value}`).toString('hex', 0, 16)}`)
  }

  /**
   * An address of the same version. Addresses with the same leading bits have the same leading bits afterwards, so that
   * networks such as a /24 or a /64 stay together. What is no address is hashed as a text.
   *
   * Source: Xu, Fan, Ammar, Moon: Prefix-preserving IP address anonymization (ICNP 2002), with HMAC-SHA-256 in place of
   * AES; one hash has the bits for all continuations of a byte.
   */
  address(text: string): string {
    return kept(this.#addresses, text, () => this.#addressOf(text))
  }

  #addressOf(text: string): string {
    const address = parseAddress(text)
    if (address === undefined) return this.text(text)
    const bytes = Buffer.alloc(address.words.length * 4)
    for (const [i, word] of address.words.entries()) bytes.writeUInt32BE(word, i * 4)
    const shown = Buffer.from(bytes)
    for (let i = 0; i < bytes.length; i++) {
      const flips = this.#hash(Buffer.concat([Buffer.from([address.version]), bytes.subarray(0, i)]))
      shown[i] = flipped(bytes[i]!, flips)
    }
    const plain =
      address.version === 4
        ? shown.join('.')
        : [0, 2, 4, 6, 8, 10, 12, 14].map((at) => shown.readUInt16BE(at).toString(16)).join(':')
    return ipKey(plain, 32, 128)!
  }

  #hash(value: string | Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(value).digest()
  }
}

/** Each bit is turned or not, as the bits before it say: 255 bits of `flips` are those of a binary tree. */
function flipped(byte: number, flips: Buffer): number {
  let out = 0
  for (let bit = 0; bit < 8; bit++) {
    const node = (1 << bit) - 1 + (byte >> (8 - bit))
    const flip = (flips[node >> 3]! >> (node & 7)) & 1
    out = (out << 1) | (((byte >> (7 - bit)) & 1) ^ flip)
  }
  return out
}

function kept(known: Map<string, string>, value: string, make: () => string): string {
  if (value.length > MOST_LENGTH) return make()
  const before = known.get(value)
  if (before !== undefined) return before
  if (known.size >= MOST_KEPT) known.clear()
  const made = make()
  known.set(value, made)
  return made
}
