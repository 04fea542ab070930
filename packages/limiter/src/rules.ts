/** Rules: their model, how they are compiled, and how requests are matched to them. */
export { type Params, type Part, parsePart } from './core/identify/key-part.ts'
export { assignErrors, unassignable } from './core/match/assign.ts'
export { type CompileOptions, compile, compileInPieces } from './core/match/compile.ts'
export type { CompiledDomain, Matched, Rules } from './core/match/compiled-rules.ts'
export { costOf } from './core/match/cost.ts'
export type {
  CompiledDescriptorLimit,
  DescriptorNode,
  DescriptorTree,
  Level,
  MatchedLimit,
} from './core/match/descriptor-tree.ts'
export {
  type DescriptorQuery,
  type DescriptorStatus,
  type Entry,
  type MatchedDescriptors,
  matchDescriptors,
} from './core/match/descriptors.ts'
export type {
  Descriptor,
  DescriptorLimit,
  Domain,
  Limit,
  LimitOptions,
  NetworkLimit,
  OnMissingKey,
  PlanQuota,
  Quota,
  When,
} from './core/match/domain.ts'
export { type Explanation, explainDescriptors, explainRequest } from './core/match/explain.ts'
export { parseGlob, pathMatcher } from './core/match/glob.ts'
export { type KeyLookup, keyLookup } from './core/match/key-lookup.ts'
export type { CompiledLimit } from './core/match/limit.ts'
export { algorithmSettingsOf, ruleOptionsOf, stepForKey } from './core/match/make-rule.ts'
export { type LimitMatch, matchLimit, matchRequest } from './core/match/match.ts'
export { type Pattern, patternIndex } from './core/match/pattern-index.ts'
export { descriptorRules, limitRules } from './core/match/rules-of.ts'
export { wildcard } from './core/match/wildcard.ts'
export type { Request } from './core/request.ts'
