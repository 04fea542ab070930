import type { Rule } from '../../core/decide/rule.ts'
import { ConfigError } from '../../core/errors.ts'
import { sha256 } from '../../core/identify/keyed-hash.ts'
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

  /** @throws ConfigError */
  constructor(prefix: string) {
    if (!/^[!-z|~]+$/.test(prefix) || prefix.length > LONGEST_PREFIX) {
      throw new ConfigError(
        `prefix must be 1 to ${LONGEST_PREFIX} printable ASCII characters, without spaces and braces`,
      )
    }
    this.#prefix = prefix
  }

  of({ rule, key }: StateName): StateNames {
    let known = this.#rules.get(rule)
    if (known === undefined) {
      const { namespace, plan, block } = rule
      known = { state: idOf(namespace, plan.kind), block: block && idOf(namespace, block.kind) }
      this.#rules.set(rule, known)
    }
    const start = `${this.#prefix}:{${tagOf({ key })}}:`
    return { state: start + known.state, block: known.block && start + known.block }
  }

  /** The name of one state. */
  one(namespace: string, kind: string, key: string): string {
    return `${this.#prefix}:{${tagOf({ key })}}:${idOf(namespace, kind)}`
  }

  /** What remembers a settlement; with `state`, in the slot of that. */
  once(id: string, state?: StateName): string {
    return `${this.#prefix}:${state === undefined ? '' : `{${tagOf(state)}}:`}once:${digest(id, 22)}`
  }
}

function idOf(namespace: string, kind: string): string {
  return digest(`${namespace.length}:${namespace}${kind}`, 11)
}

/** The slot of a state in a Redis cluster: CRC-16 (polynomial 0x1021, from 0) of its tag, modulo 16384. */
export function slotOf(state: Pick<StateName, 'key'>): number {
  const tag = tagOf(state)
  let crc = 0
  for (let i = 0; i < tag.length; i++) {
    crc ^= tag.charCodeAt(i) << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc & 16_383
}

function tagOf({ key }: Pick<StateName, 'key'>): string {
  return digest(key, 22)
}

/** Of base64url (RFC 4648). */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Over UTF-16: in UTF-8 all lone surrogates would be one character. */
function digest(text: string, length: number): string {
  const bytes = new Uint8Array(text.length * 2)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    bytes[i * 2] = unit
    bytes[i * 2 + 1] = unit >> 8
  }
  const hash = sha256(bytes)
  let name = ''
  for (let i = 0; name.length < length; i += 3) {
    const bits = (hash[i]! << 16) | (hash[i + 1]! << 8) | hash[i + 2]!
    name += DIGITS[bits >> 18]! + DIGITS[(bits >> 12) & 63]! + DIGITS[(bits >> 6) & 63]! + DIGITS[bits & 63]!
  }
  return name.slice(0, length)
}
