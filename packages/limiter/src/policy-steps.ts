import { type CostByName, checkedCost } from './core/decide/cost.ts'
import type { Rule } from './core/decide/rule.ts'
import { holdsSlots, type Step } from './core/decide/step.ts'
import { escaped, joinParts } from './core/identify/key-text.ts'
import { nearest } from './core/nearest.ts'

/** Which counter: one text, or parts, which are joined so that no two lists of parts can collide. */
export type Key = string | readonly string[]

/** A key for each of several fields, by name: each policy uses the one that its `key` names. */
export type Keys<Field extends string = string> = Readonly<Record<Field, Key>>

/** A limiter's policy as a rule, and the field that its key is in; `undefined`: all its policies have one key. */
export interface PolicyRule {
  readonly rule: Rule
  readonly field: string | undefined
}

/** The steps of one request, from its key or keys and its cost or costs. */
export class PolicySteps {
  readonly #policies: readonly PolicyRule[]
  readonly #names: readonly string[]
  readonly #fields: readonly string[]

  constructor(policies: readonly PolicyRule[]) {
    this.#policies = policies
    this.#names = policies.map(({ rule }) => rule.name)
    this.#fields = [...new Set(policies.flatMap(({ field }) => field ?? []))]
  }

  /**
   * The rules, where all of them have one key, are enforced or in shadow mode, one at least enforced, and none blocks,
   * delays or holds slots.
   */
  get plain(): readonly Rule[] | undefined {
    const rules = this.#policies.map(({ rule }) => rule)
    const isEnforced = rules.some(({ role }) => role === 'enforce')
    return this.#fields.length === 0 && isEnforced && rules.every(isPlain) ? rules : undefined
  }

  /** @throws TypeError for a key or a cost that is wrong, lacks a field or has one that no policy uses */
  of(key: Key | Keys, cost: number | CostByName): Step[] {
    if (typeof cost === 'number' && this.#fields.length === 0) return this.#alike(joinedKey(key, 'key'), cost)
    this.checkNames(cost)
    const keyOf = this.#keysOf(key, true)
    return this.#policies.map(({ rule, field }) => ({ rule, key: keyOf(field)!, cost: costOf(rule, cost) }))
  }

  #alike(key: string, cost: number): Step[] {
    const policies = this.#policies
    const steps: Step[] = new Array(policies.length)
    for (let i = 0; i < policies.length; i++) steps[i] = { rule: policies[i]!.rule, key, cost }
    return steps
  }

  /** The same for policies whose field is given: at least one. */
  some(key: Key | Keys, cost: number): Step[] {
    const keyOf = this.#keysOf(key, false)
    return this.#policies.flatMap(({ rule, field }) => {
      const own = keyOf(field)
      return own === undefined ? [] : [{ rule, key: own, cost }]
    })
  }

  /** @throws TypeError for names of no policy */
  checkNames(cost: number | CostByName): void {
    if (typeof cost === 'number') return
    const names = Object.keys(cost ?? {})
    if (names.length === 0) throw new TypeError('cost must be a number, or an object that names policies')
    checkKnown('cost', 'policy', names, this.#names)
  }

  #keysOf(key: Key | Keys, all: boolean): (field: string | undefined) => string | undefined {
    if (this.#fields.length === 0) {
      const joined = joinedKey(key, 'key')
      return () => joined
    }
    if (typeof key !== 'object' || key === null || Array.isArray(key))
      throw new TypeError(`key must be an object with ${this.#fields.join(', ')}: policies name these fields`)
    const given = Object.keys(key).filter((name) => (key as Keys)[name] !== undefined)
    checkKnown('key', 'field', given, this.#fields)
    const missing = this.#fields.find((field) => !given.includes(field))
    if (missing !== undefined && (all || given.length === 0))
      throw new TypeError(`key.${missing} must be given: a policy of this limiter has \`key: '${missing}'\``)
    const joined = new Map(given.map((field) => [field, joinedKey((key as Keys)[field]!, `key.${field}`)]))
    return (field) => joined.get(field!)
  }
}

function isPlain(rule: Rule): boolean {
  const { role, block, soft, onLimit } = rule
  const delays = onLimit === 'delay' && soft !== undefined
  const isPlainRole = role === 'enforce' || role === 'shadow'
  return isPlainRole && block === undefined && !delays && !holdsSlots({ rule })
}

function costOf({ name }: Rule, cost: number | CostByName): number {
  if (typeof cost === 'number') return cost
  const own = Object.hasOwn(cost, name) ? cost[name] : undefined
  return own === undefined ? 1 : checkedCost(own)
}

function checkKnown(where: string, what: string, names: readonly string[], known: readonly string[]): void {
  const wrong = names.find((name) => !known.includes(name))
  if (wrong === undefined) return
  const meant = nearest(wrong, known)
  const hint = meant === undefined ? `; there are ${known.join(', ')}` : `; did you mean ${meant}?`
  throw new TypeError(`${where} names ${JSON.stringify(wrong)}, which is no ${what} of this limiter${hint}`)
}

/** Lists of parts begin with one NUL, texts that begin with NUL with two: no text collides with a list. */
export function joinedKey(key: Key | Keys, where: string): string {
  if (typeof key === 'string') return key.charCodeAt(0) === 0 ? `\0${key}` : key
  if (Array.isArray(key) && key.length > 0 && key.every((part) => typeof part === 'string'))
    return `\0${joinParts(key.map(escaped))}`
  throw new TypeError(
    `${where} must be a string or an array of strings; decide how to handle requests without a key before calling`,
  )
}
