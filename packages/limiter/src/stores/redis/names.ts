import type { Rule } from '../../core/decide/rule.ts'
import { ConfigError } from '../../core/errors.ts'
import { TextHash } from '../../core/identify/sha-256.ts'
import type { StateName } from '../store.ts'

/** Names in Redis of what a step charges, and of its rule's block. */
export interface StateNames {
  readonly state: string
  readonly block: string | undefined
}

/** Longest prefix, in characters. */
const LONGEST_PREFIX = 64

/**
 * Names in Redis: `prefix:{identity}:policy`. What stands in braces decides the slot of a cluster, so all states of
 * one identity share one. Identity (128 bits) and the rule's namespace with its kind (64) are SHA-256 cut short:
 * whatever is in them, a name has the same length, chooses no slot of its own, and does not reveal the identity.
 */
export class Names {
  readonly #prefix: string
  readonly #rules = new WeakMap<Rule, StateNames>()
  readonly #hash = new TextHash()
  /** The steps of a request mostly have one key. */
  #lastKey = ''
  #lastStart: string

  /** @throws ConfigError */
  constructor(prefix: string) {
    if (!/^[!-z|~]+$/.test(prefix) || prefix.length > LONGEST_PREFIX) {
      throw new ConfigError(
        `prefix must be 1 to ${LONGEST_PREFIX} printable ASCII characters, without spaces and braces`,
      )
    }
    this.#prefix = prefix
    this.#lastStart = `${prefix}:{${this.#digest('')}}:`
  }

  of({ rule, key }: StateName): StateNames {
    const ends = this.#endsOf(rule)
    const start = this.#startOf(key)
    return { state: start + ends.state, block: ends.block && start + ends.block }
  }

  /** The name of what a step charges. */
  state(rule: Rule, key: string): string {
    return this.#startOf(key) + this.#endsOf(rule).state
  }

  /** How the names of a key's states begin. */
  #startOf(key: string): string {
    if (key === this.#lastKey) return this.#lastStart
    this.#lastStart = `${this.#prefix}:{${this.#digest(key)}}:`
    this.#lastKey = key
    return this.#lastStart
  }

  /** How the names of a rule's states end. */
  #endsOf(rule: Rule): StateNames {
    const known = this.#rules.get(rule)
    if (known !== undefined) return known
    const { namespace, plan, block } = rule
    const ends = {
      state: this.#idOf(namespace, plan.kind),
      block: block && this.#idOf(namespace, block.kind),
    }
    this.#rules.set(rule, ends)
    return ends
  }

  /** The name of one state. */
  one(namespace: string, kind: string, key: string): string {
    return this.#startOf(key) + this.#idOf(namespace, kind)
  }

  /** What remembers a settlement; with `state`, in the slot of that. */
  once(id: string, state?: StateName): string {
    const start = state === undefined ? `${this.#prefix}:` : this.#startOf(state.key)
    return `${start}once:${this.#digest(id)}`
  }

  /** The slot of a state in a Redis cluster: CRC-16 (polynomial 0x1021, from 0) of its tag, modulo 16384. */
  slotOf({ key }: Pick<StateName, 'key'>): number {
    const start = this.#startOf(key)
    let crc = 0
    for (let i = this.#prefix.length + 2; i < start.length - 2; i++) {
      crc ^= start.charCodeAt(i) << 8
      for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
    }
    return crc & 16_383
  }

  #idOf(namespace: string, kind: string): string {
    return this.#digest(`${namespace.length}:${namespace}${kind}`).slice(0, 11)
  }

  /** 128 bits of the hash in base64url (RFC 4648). One call makes a flat text, where adding up digits makes 22. */
  #digest(text: string): string {
    const hash = this.#hash.of(text)
    const [a, b, c, d, e] = [hash[0]!, hash[1]!, hash[2]!, hash[3]!, hash[4]!]
    return String.fromCharCode(
      digit(a >>> 26),
      digit(a >>> 20),
      digit(a >>> 14),
      digit(a >>> 8),
      digit(a >>> 2),
      digit((a << 4) | (b >>> 28)),
      digit(b >>> 22),
      digit(b >>> 16),
      digit(b >>> 10),
      digit(b >>> 4),
      digit((b << 2) | (c >>> 30)),
      digit(c >>> 24),
      digit(c >>> 18),
      digit(c >>> 12),
      digit(c >>> 6),
      digit(c),
      digit(d >>> 26),
      digit(d >>> 20),
      digit(d >>> 14),
      digit(d >>> 8),
      digit(d >>> 2),
      digit((d << 4) | (e >>> 28)),
    )
  }
}

const DIGITS = /* @__PURE__ */ Uint8Array.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  (digit) => digit.charCodeAt(0),
)

/** The code of the digit for the lowest 6 bits. */
function digit(bits: number): number {
  return DIGITS[bits & 63]!
}
