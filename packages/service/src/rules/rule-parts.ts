import { createHash } from 'node:crypto'
import type { Descriptor, Domain, Limit } from '@sluice/limiter/rules'
import { type LoadOptions, parseRulebook, RulebookError, type RulebookFiles } from '@sluice/rulebook'

/** A rulebook in parts, each small enough to be handed over while requests wait. */
export interface RuleParts {
  /** Names the content: the same on every node that loads the same rules. */
  readonly version: string
  readonly parts: readonly RulePart[]
}

export type RulePart =
  /** A domain begins: the parts that follow are its own. */
  | { readonly domain: string; readonly digest: string }
  | { readonly limit: Limit }
  /** @property parent its position among the descriptors of the domain; −1 at the first level */
  | { readonly descriptor: Omit<Descriptor, 'descriptors'>; readonly parent: number }

export interface LoadedDomain {
  readonly domain: Domain
  /** Differs when the domain does. */
  readonly digest: string
}

/** Reads the files' text, and takes the rules apart. @throws RulebookError, also where nothing is for the service */
export function rulePartsOf(files: RulebookFiles, options: LoadOptions): RuleParts {
  const domains = withoutNetwork(parseRulebook(files, options))
  const parts: RulePart[] = []
  for (const domain of domains) {
    parts.push({ domain: domain.name, digest: digestOf(JSON.stringify(domain)) })
    for (const limit of domain.limits) parts.push({ limit })
    let count = 0
    const add = ({ descriptors, ...descriptor }: Descriptor, parent: number): void => {
      const position = count++
      parts.push({ descriptor, parent })
      for (const child of descriptors) add(child, position)
    }
    for (const descriptor of domain.descriptors) add(descriptor, -1)
  }
  return { version: digestOf(JSON.stringify(domains)), parts }
}

/** Network rules are exported, not decided: a domain of these alone is none here. @throws RulebookError */
function withoutNetwork(all: readonly Domain[]): Domain[] {
  const domains = all
    .map(({ name, limits, descriptors }) => ({ name, limits, descriptors }))
    .filter(({ limits, descriptors }) => limits.length + descriptors.length > 0)
  const first = all.flatMap(({ network = [] }) => network)[0]
  if (domains.length > 0 || first?.source === undefined) return domains
  const message = 'network rules alone: the service decides none of them; see sluice export nftables'
  throw new RulebookError([{ ...first.source, message }])
}

/** Puts the parts together again, as they come. */
export class RuleAssembly {
  readonly domains: LoadedDomain[] = []
  #limits: Limit[] = []
  #descriptors: Descriptor[][] = []

  add(part: RulePart): void {
    if ('domain' in part) {
      this.#limits = []
      this.#descriptors = [[]]
      const domain = { name: part.domain, limits: this.#limits, descriptors: this.#descriptors[0]! }
      this.domains.push({ domain, digest: part.digest })
    } else if ('limit' in part) this.#limits.push(part.limit)
    else {
      const descriptors: Descriptor[] = []
      this.#descriptors[part.parent + 1]!.push({ ...part.descriptor, descriptors })
      this.#descriptors.push(descriptors)
    }
  }
}

function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}
