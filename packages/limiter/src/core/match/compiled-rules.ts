import type { Step } from '../decide/step.ts'
import type { Request } from '../request.ts'
import type { DescriptorTree } from './descriptor-tree.ts'
import type { CompiledLimit, Setting } from './limit.ts'
import type { RuleIndex } from './rule-index.ts'

/** Rules made ready for matching; they never change, so that a reload is one assignment. */
export interface Rules {
  readonly domains: ReadonlyMap<string, CompiledDomain>
  readonly setting: Setting
  /** As matchRequest of these rules: whoever has them at hand need not load what matches them. */
  readonly matchRequest: (domain: string, request: Request, cost?: number) => Matched
}

export interface CompiledDomain {
  readonly name: string
  /** In the order in which they were written. */
  readonly limits: readonly CompiledLimit[]
  /** Speaks of limits by their position. */
  readonly index: RuleIndex
  readonly descriptors: DescriptorTree
}

/** What the store is to be asked about a request, or why it cannot be. */
export interface Matched {
  /** In rule order. */
  readonly steps: readonly Step[]
  /** Names of rules that did not apply because the request lacks a part of their key. */
  readonly missing: readonly string[]
  /** Why the request cannot be decided as it stands: the caller's mistake (400). Then there are no steps. */
  readonly problem?: string
}
