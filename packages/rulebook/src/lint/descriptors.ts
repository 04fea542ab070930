import type { Descriptor } from '@sluice/limiter/rules'
import { unassignable, wildcard } from '@sluice/limiter/rules'
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

/** Patterns are tried in file order, and before a key alone: what an earlier one covers is never reached. */
function unreachable(siblings: readonly LintNode[]): FileProblem[] {
  const patterns = siblings.filter(({ rule }) => isPattern(rule))
  const keys = siblings.filter(({ rule }) => rule.value === undefined && !isPattern(rule))
  const earlier: { label: string; covers: (rule: Descriptor) => boolean }[] = []
  const problems: FileProblem[] = []
  for (const node of [...patterns, ...keys]) {
    const label = descriptorLabel(node.rule)
    const before = earlier.find(({ covers }) => covers(node.rule))
    if (isPattern(node.rule)) earlier.push({ label, covers: coverage(node.rule) })
    if (before === undefined) continue
    const field = node.rule.value === undefined ? 'key' : 'value'
    const message = `${quoted(label)} is never reached: ${quoted(before.label)} matches all that it does`
    problems.push(problemIn(node, [field], message))
  }
  return problems
}

function isPattern(rule: Descriptor): boolean {
  return descriptorLabel(rule).includes('*')
}

/** A pattern matches all that another does when it matches that one's text: no literal of its own holds a `*`. */
function coverage({ key, value }: Descriptor): (other: Descriptor) => boolean {
  const coversKey = wildcard(key)
  const coversValue = value === undefined ? () => true : wildcard(value)
  const isAny = value === undefined || /^\*+$/.test(value)
  return (other) => coversKey(other.key) && (other.value === undefined ? isAny : coversValue(other.value))
}

function descriptorLabel({ key, value }: Descriptor): string {
  return value === undefined ? key : `${key}_${value}`
}
