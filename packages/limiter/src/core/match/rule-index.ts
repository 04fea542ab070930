import { addCidr, type CidrTrie, cidrTrie, valuesAt } from '../identify/cidr.ts'
import type { Facts } from '../identify/facts.ts'
import type { Condition, Handle, RequestField } from './condition.ts'
import type { Glob } from './glob.ts'
import { type Filing, Groups, leastShared } from './groups.ts'
import { made } from './made.ts'
import type { Pieces } from './pieces.ts'
import { pieceId, WildcardIndex } from './wildcard-index.ts'

/**
 * Finds the few rules that a request may meet, so that thousands cost about as much as ten. Every rule is filed
 * under one of its conditions, the one that it shares with the fewest others; where these are many, they are an index
 * again, by their other conditions. Whether all conditions hold is for the caller to check. Rules are spoken of by their
 * position.
 */
export interface RuleIndex {
  /** Rules that no condition narrows. */
  readonly always: readonly number[]
  readonly fields: readonly FieldIndex[]
  readonly paths: PathNode | undefined
  readonly ips: CidrTrie<Filed> | undefined
}

/** What is filed: a rule, or the index of many. */
type Filed = number | RuleIndex

/** How many rules under one condition are not worth an index. */
const FEW = 16

interface FieldIndex {
  readonly field: RequestField
  readonly values: Map<string, Filed[]>
  /** Rules that have a pattern there; absent where none has. */
  patterns?: WildcardIndex<Filed>
}

/** A segment of paths: the rules whose path ends here, and those that from here on have more than plain segments. */
interface PathNode {
  readonly literals: Map<string, PathNode>
  one?: PathNode
  readonly ending: Filed[]
  readonly open: Filed[]
}

/** A rule, with what is not looked at yet: for each condition its alternatives, and the handles of each. */
interface Unfiled {
  readonly rule: number
  readonly conditions: readonly (readonly (readonly Handle[])[])[]
}

/** @param rules the conditions of each rule */
export function indexRules(rules: readonly (readonly Condition[])[]): Pieces<RuleIndex> {
  return indexOf(
    rules.map((conditions, rule) => ({ rule, conditions: conditions.map(({ handles }) => handles) })),
    Number.POSITIVE_INFINITY,
  )
}

/** @param most rules that a condition may leave to be worth looking at */
function* indexOf(rules: readonly Unfiled[], most: number): Pieces<RuleIndex> {
  const groups = new Groups(handleId)
  const filings: (readonly (readonly Filing<Handle>[])[])[][] = []
  for (const { conditions } of rules) {
    filings.push(
      conditions.map((alternatives) => alternatives.map((own) => own.map((handle) => groups.filing(handle)))),
    )
    yield
  }
  const always: number[] = []
  const shared = new Map<object, { readonly by: Handle; readonly rules: Unfiled[] }>()
  const index = new IndexBuilder()
  for (const [i, { rule, conditions }] of rules.entries()) {
    const { at, chosen } = narrowest(filings[i]!, most)
    if (chosen.length === 0) always.push(rule)
    for (const { by, group } of chosen) {
      if (group.size <= FEW) index.file(by, rule)
      else {
        const others = { rule, conditions: conditions.filter((_, other) => other !== at) }
        made(shared, group, () => ({ by, rules: [] as Unfiled[] })).rules.push(others)
      }
    }
    yield
  }
  for (const { by, rules: own } of shared.values()) {
    const below = yield* indexOf(own, own.length - 1)
    if (below.always.length < own.length) index.file(by, below)
    else for (const { rule } of own) index.file(by, rule)
  }
  return index.built(always)
}

/** The rules that the request may meet, in order, each once. */
export function candidates(index: RuleIndex, facts: Facts): readonly number[] {
  const found: number[] = []
  collect(index, facts, found)
  if (found.length === 0) return index.always
  add(found, index.always, facts)
  if (found.length === 1) return found
  found.sort((a, b) => a - b)
  return found.filter((rule, i) => rule !== found[i - 1])
}

/** All but those that no condition narrows. */
function collect({ fields, paths, ips }: RuleIndex, facts: Facts, found: number[]): void {
  for (const own of fields) {
    const value = own.field.read(facts)
    if (typeof value === 'string') findValue(own, value, facts, found)
    else if (value !== undefined) for (const one of value) findValue(own, one, facts, found)
  }
  if (paths !== undefined) collectRules(paths, facts, 0, found)
  if (ips !== undefined && facts.address !== undefined) add(found, valuesAt(ips, facts.address), facts)
}

/** Equal for handles that have one place in an index. A name may hold any `=`: the length says where the value begins. */
function handleId(handle: Handle): string {
  if (handle.kind === 'path') return `path ${indexedSegments(handle.glob).join('/')}`
  if (handle.kind === 'ip') return `ip ${handle.cidr.address.words}/${handle.cidr.bits}`
  if (handle.kind === 'piece') return `${handle.field.id} ${pieceId(handle.piece)}`
  return `${handle.field.id}=${handle.value}=${handle.value.length}`
}

/** The condition that a rule shares with the fewest others, and where it is filed; nowhere where no condition narrows. */
function narrowest(
  conditions: readonly (readonly (readonly Filing<Handle>[])[])[],
  most: number,
): { readonly at: number; readonly chosen: readonly Filing<Handle>[] } {
  let best: readonly Filing<Handle>[] = []
  let at = -1
  let least = most
  for (const [i, alternatives] of conditions.entries()) {
    if (alternatives.length === 0) continue
    const chosen = alternatives.map(leastShared)
    let size = 0
    for (const { group } of chosen) size += group.size
    if (size <= least) [best, at, least] = [chosen, i, size]
  }
  return { at, chosen: best }
}

/** An index, while rules are filed in it. */
class IndexBuilder {
  readonly #fields = new Map<string, FieldIndex>()
  #paths: PathNode | undefined
  #ips: CidrTrie<Filed> | undefined

  file(handle: Handle, filed: Filed): void {
    if (handle.kind === 'path') {
      this.#paths ??= newNode()
      filePath(this.#paths, handle.glob, filed)
    } else if (handle.kind === 'ip') {
      this.#ips ??= cidrTrie([])
      addCidr(this.#ips, handle.cidr, filed)
    } else {
      const { field } = handle
      const own = made(this.#fields, field.id, (): FieldIndex => ({ field, values: new Map() }))
      if (handle.kind === 'value') made(own.values, handle.value, (): Filed[] => []).push(filed)
      else {
        own.patterns ??= new WildcardIndex()
        own.patterns.file(handle.piece, filed)
      }
    }
  }

  built(always: readonly number[]): RuleIndex {
    return { always, fields: [...this.#fields.values()], paths: this.#paths, ips: this.#ips }
  }
}

function findValue({ values, patterns }: FieldIndex, value: string, facts: Facts, found: number[]): void {
  const own = values.get(value)
  if (own !== undefined) add(found, own, facts)
  patterns?.find(value, (rules) => add(found, rules, facts))
}

/** The segments by which a glob is filed: those before the first that is open. `*` is one segment, `**` all the rest. */
function indexedSegments({ segments }: Glob): readonly string[] {
  const place: string[] = []
  for (const segment of segments) {
    if (segment.kind === 'literal') place.push(segment.text)
    else if (segment.kind === 'one') place.push('*')
    else return [...place, '**']
  }
  return place
}

function filePath(root: PathNode, glob: Glob, filed: Filed): void {
  const place = indexedSegments(glob)
  const isOpen = place.at(-1) === '**'
  let node = root
  for (const text of isOpen ? place.slice(0, -1) : place) {
    if (text === '*') node = node.one ??= newNode()
    else node = made(node.literals, text, newNode)
  }
  ;(isOpen ? node.open : node.ending).push(filed)
}

function newNode(): PathNode {
  return { literals: new Map(), ending: [], open: [] }
}

/** No node is visited twice, so a path costs at most one visit for each node that rules made. */
function collectRules(node: PathNode, facts: Facts, at: number, found: number[]): void {
  const { segments } = facts
  add(found, node.open, facts)
  if (at === segments.length) {
    add(found, node.ending, facts)
    return
  }
  const child = node.literals.get(segments[at]!)
  if (child !== undefined) collectRules(child, facts, at + 1, found)
  if (node.one !== undefined) collectRules(node.one, facts, at + 1, found)
}

/** Not by spreading: a call takes only so many arguments. */
function add(found: number[], all: readonly Filed[], facts: Facts): void {
  for (const filed of all) {
    if (typeof filed === 'number') found.push(filed)
    else {
      collect(filed, facts, found)
      add(found, filed.always, facts)
    }
  }
}
