import { hash } from 'node:crypto'
import type { Plan } from '../../core/decide/algorithm.ts'
import type { Step } from '../../core/decide/step.ts'
import { ConfigError } from '../../core/errors.ts'

/** What names a state. */
export type State = Pick<Step, 'plan' | 'policy' | 'key'>

/** Longest prefix, in characters. */
const LONGEST = 64

/**
 * Names in Redis: `prefix:{identity}:policy`. What stands in braces decides the slot of a cluster, so all states of
 * one identity share one. Identity (128 bits) and policy with its kind (64) are SHA-256 cut short: whatever is in
 * them, a name has the same length, chooses no slot of its own, and says nothing of whom it is about.
 */
export class Names {
  readonly #prefix: string
  readonly #policies = new WeakMap<Plan, { readonly policy: string; readonly id: string }>()

  /** @throws ConfigError */
  constructor(prefix: string) {
    if (!/^[!-z|~]+$/.test(prefix) || prefix.length > LONGEST) {
      throw new ConfigError(
        `prefix must be 1 to ${LONGEST} printable ASCII characters, without spaces and braces`,
      )
    }
    this.#prefix = prefix
  }

  state(state: State): string {
    return `${this.#prefix}:{${tagOf(state)}}:${this.#policyOf(state)}`
  }

  /** What remembers a settlement; with `state`, in the slot of that. */
  once(id: string, state?: State): string {
    return `${this.#prefix}:${state === undefined ? '' : `{${tagOf(state)}}:`}once:${digest(id, 22)}`
  }

  /** A plan mostly serves one policy. */
  #policyOf({ plan, policy }: State): string {
    const known = this.#policies.get(plan)
    if (known?.policy === policy) return known.id
    const id = digest(`${policy.length}:${policy}${plan.kind}`, 11)
    this.#policies.set(plan, { policy, id })
    return id
  }
}

/** The slot of a state in a Redis cluster: CRC-16 (polynomial 0x1021, from 0) of its tag, modulo 16384. */
export function slotOf(state: Pick<State, 'key'>): number {
  const tag = tagOf(state)
  let crc = 0
  for (let i = 0; i < tag.length; i++) {
    crc ^= tag.charCodeAt(i) << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc & 16_383
}

function tagOf({ key }: Pick<State, 'key'>): string {
  return digest(key, 22)
}

/** Over UTF-16: in UTF-8 all lone surrogates would be one character. */
function digest(text: string, length: number): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url').slice(0, length)
}
