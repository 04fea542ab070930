import type { Step } from '@sluice/limiter/decide'
import type { Domain, Limit } from '@sluice/limiter/rules'

/** Which of `parts` a request belongs to: all requests that share a state belong to one. */
export type Parting = (steps: readonly Step[]) => number

/**
 * Parts the requests of domains by the part of the key that all limits have; `undefined` where there is none, as of a
 * limit for all together. Canonical keys are parted, so that an address of IPv6 goes where its network does.
 */
export function partingOf(domains: readonly Domain[], parts: number): Parting | undefined {
  const limits = domains.flatMap((domain) => domain.limits)
  const [first] = limits
  if (first === undefined || domains.some(({ descriptors }) => descriptors.length > 0)) return undefined
  const common = first.key.find((part) => isAlike(part) && limits.every(({ key }) => key.includes(part)))
  if (common === undefined) return undefined
  const places = new Map(limits.map(({ name, key }) => [name, key.indexOf(common)]))
  if (limits.some(({ name, key }) => places.get(name) !== key.indexOf(common))) return undefined
  return (steps) => {
    const [step] = steps
    if (step === undefined) return 0
    return hashOf(pieceOf(step.key, places.get(step.rule.name) ?? 0)) % parts
  }
}

/** A `param` is what the limit's own path says: the same text may mean another piece of the path. */
function isAlike(part: Limit['key'][number]): boolean {
  return !part.startsWith('param')
}

/** Parts of a key stand between bars, which no part holds. */
function pieceOf(key: string, place: number): string {
  return key.split('|')[place]!
}

function hashOf(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
