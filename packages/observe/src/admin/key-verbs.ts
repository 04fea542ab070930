import type { Decision, Engine, Rule } from '@sluice/limiter/decide'
import { ConfigError } from '@sluice/limiter/errors'
import { stepForKey } from '@sluice/limiter/rules'

/** One key of one policy. */
export interface NamedKey {
  readonly domain: string
  readonly policy: string
  /** As `sluice explain` shows it. */
  readonly key: string
}

/** The figures of a key by one quota of a policy: it may have several, for plans and overrides. */
export interface KeyFigures {
  readonly decision: Decision
  /** Whether the key can be blocked by hand. */
  readonly blockable: boolean
}

/** What operators do with one key. */
export interface KeyVerbs {
  /** What the key's next request of cost 1 would be answered, by each quota of the policy; nothing is charged. */
  peekKey(named: NamedKey): Promise<readonly KeyFigures[]>
  /** Forgets what the key has used, and its blocks, by every quota of the policy. @returns the policy's name */
  resetKey(named: NamedKey): Promise<readonly string[]>
  /**
   * Refuses the key for a duration (milliseconds or text), or (0) ends its block.
   * @throws ConfigError for what is no duration, or a policy that cannot block
   */
  blockKey(named: NamedKey, duration: number | string): Promise<void>
}

/**
 * The verbs for one key, over an engine.
 * @param rulesOf the rules of a policy; it throws where there is none
 * @example
 * const { blockKey } = keyVerbs(createEngine(store), ({ policy }) => rules.get(policy)!)
 */
export function keyVerbs(engine: Engine, rulesOf: (named: NamedKey) => readonly Rule[]): KeyVerbs {
  return {
    peekKey: async (named) =>
      Promise.all(
        differing(rulesOf(named), (rule) => `${counterOf(rule)}\0${rule.plan.capacity}`).map(
          async (rule) => ({
            decision: await engine.decide(named.domain, [stepForKey(rule, named.key, 1)], true),
            blockable: rule.block !== undefined,
          }),
        ),
      ),
    async resetKey(named) {
      const { key, policy } = named
      await engine.reset(differing(rulesOf(named), counterOf).map((rule) => ({ rule, key })))
      return [policy]
    },
    async blockKey(named, duration) {
      const { key, policy } = named
      const states = differing(rulesOf(named), counterOf).map((rule) => ({ rule, key }))
      if (states.every(({ rule }) => rule.block === undefined))
        throw new ConfigError(
          `the policy ${JSON.stringify(policy)} cannot block: give it blockable: true, or a block`,
        )
      await engine.block(states, duration)
    },
  }
}

/** Quotas of one kind share their counter. */
function counterOf({ namespace, plan }: Rule): string {
  return `${namespace}\0${plan.kind}`
}

function differing(rules: readonly Rule[], by: (rule: Rule) => string): readonly Rule[] {
  return [...new Map(rules.map((rule) => [by(rule), rule])).values()]
}
