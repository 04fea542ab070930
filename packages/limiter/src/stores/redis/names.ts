import { hash } from 'node:crypto'
import type { Step } from '../../core/decide/step.ts'

/** Longest prefix, in characters. */
const LONGEST = 64

/**
 * Names in Redis: `prefix:{identity}:policy`. What stands in braces decides the slot, so all states of one identity
 * share one. Identity (128 bits) and policy with its kind (64) are SHA-256 cut short: whatever is in them, a name
 * has the same length, and says nothing of whom it is about.
 */
export function stateName(prefix: string, tag: string, policyId: string): string {
  return `${prefix}:{${tag}}:${policyId}`
}

/** The name of what remembers a settlement; within a cluster in the slot of its charges. */
export function onceName(prefix: string, id: string, tag?: string): string {
  return tag === undefined ? `${prefix}:once:${digest(id, 22)}` : `${prefix}:{${tag}}:once:${digest(id, 22)}`
}

export function tagOf(key: string): string {
  return digest(key, 22)
}

export function policyIdOf({ policy, plan }: Pick<Step, 'policy' | 'plan'>): string {
  return digest(`${policy.length}:${policy}${plan.kind}`, 11)
}

export function isPrefix(prefix: string): boolean {
  return prefix.length > 0 && prefix.length <= LONGEST && /^[!-z|~]+$/.test(prefix)
}

/** Over UTF-16: as UTF-8, all lone surrogates would be one character. */
function digest(text: string, length: number): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url').slice(0, length)
}

/** The slot of a tag in a Redis cluster: CRC-16 (polynomial 0x1021, from 0) modulo 16384. */
export function slotOf(tag: string): number {
  let crc = 0
  for (let i = 0; i < tag.length; i++) {
    crc ^= tag.charCodeAt(i) << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc & 16_383
}
