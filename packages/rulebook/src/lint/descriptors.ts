import type { Descriptor } from '@sluice/limiter/rules'
import { patternIndex, unassignable, wildcard } from '@sluice/limiter/rules'
import { quoted } from '../mistake.ts'
import type { FileProblem } from '../problem.ts'
import { type Placed, placeOf, problemIn } from './placed.ts'
import { lintReplaces, type Replacement } from './replaces.ts'

type LintNode = Placed<Descriptor>

/** @param roots the first level of a domain's descriptors, in rule order */
export function lintDescriptors(
  domain: string,
  roots: readonly LintNode[],
  written: ReadonlySet<string> | undefined,
): FileProblem[] {
  const nodes = roots.flatMap(family)
  const names = nodes.flatMap(({ rule }) => rule.rateLimit?.name ?? [])
  return [
    ...lintLevel(roots, domain),
    ...roots.flatMap((root) => lintAssigned(root, [])),
    ...lintReplaces(nodes.flatMap(replacementsOf), new Set(names), written),
  ]
}

/** The node and all below it. */
function family(node: LintNode): LintNode[] {
  return [node, ...childrenOf(node).flatMap(family)]
}

/** @param above the keys on the way to the node */
function lintAssigned(node: LintNode, above: readonly string[]): FileProblem[] {
  const keys = [...above, node.rule.key]
  const why = node.rule.rateLimit?.assign === undefined ? undefined : unassignable(keys)
  return [
    ...(why === undefined ? [] : [problemIn(node, ['rate_limit', 'assign'], why)]),
    ...childrenOf(node).flatMap((child) => lintAssigned(child, keys)),
  ]
}

function childrenOf({ rule, source, path }: LintNode): LintNode[] {
  return rule.descriptors.map((child, index) => ({
    rule: child,
    source,
    path: [...path, 'descriptors', index],
  }))
}

function replacementsOf(place: LintNode): Replacement[] {
  const { name: by, replaces = [] } = place.rule.rateLimit ?? {}
  return replaces.map((name, index) => ({
    by,
    name,
    place,
    field: ['rate_limit', 'replaces', index, 'name'],
  }))
}

/** Siblings that are the same, or that no request can reach; then their children. `trail` names the parent. */
function lintLevel(siblings: readonly LintNode[], trail: string): FileProblem[] {
  const first = new Map<string, LintNode>()
  const unique: LintNode[] = []
  const problems: FileProblem[] = []
  for (const node of siblings) {
    const { key, value } = node.rule
    if (key === '') continue // missing, and reported as that
    const id = JSON.stringify([key, value])
    const twin = first.get(id)
    if (twin === undefined) {
      first.set(id, node)
      unique.push(node)
    } else {
      const message = `descriptor ${quoted(`${trail}.${descriptorLabel(node.rule)}`)} is defined already, at ${placeOf(twin)}`
      problems.push(problemIn(node, ['key'], message))
    }
  }
  const below = siblings.flatMap((node) =>
    lintLevel(childrenOf(node), `${trail}.${descriptorLabel(node.rule)}`),
  )
  return [...problems, ...unreachable(unique), ...below]
}

/**
 * Patterns are tried in file order, and before a key alone: what an earlier one covers is never reached. A pattern covers
 * all that another matches when it matches that one's text: no literal of its own holds a `*`.
 */
function unreachable(siblings: readonly LintNode[]): FileProblem[] {
  const patterns = siblings.filter(({ rule }) => isPattern(rule))
  if (patterns.length === 0) return []
  const keys = siblings.filter(({ rule }) => rule.value === undefined && !isPattern(rule))
  const covering = patternIndex(patterns.map(({ rule }) => ({ rule, ...rule, fits: fitting(rule) })))
  const problems: FileProblem[] = []
  for (const node of [...patterns, ...keys]) {
    const { key, value } = node.rule
    const before = covering(key, value ?? '*')?.rule // a pattern covers itself
    if (before === undefined || before === node.rule) continue
    const message = `${quoted(descriptorLabel(node.rule))} is never reached: ${quoted(descriptorLabel(before))} matches all that it does`
    problems.push(problemIn(node, [value === undefined ? 'key' : 'value'], message))
  }
  return problems
}

function isPattern(rule: Descriptor): boolean {
  return descriptorLabel(rule).includes('*')
}

function fitting({ key, value = '*' }: Descriptor): (key: string, value: string) => boolean {
  const [ownKey, ownValue] = [wildcard(key), wildcard(value)]
  return (otherKey, otherValue) => ownKey(otherKey) && ownValue(otherValue)
}

function descriptorLabel({ key, value }: Descriptor): string {
  return value === undefined ? key : `${key}_${value}`
}
