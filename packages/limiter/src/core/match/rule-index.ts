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
 * under one of its conditions, the one that it shares with the fewest others; whether the rest hold is for the
 * caller to check. Rules are spoken of by their position.
 */
export interface RuleIndex {
  /** Rules that no condition narrows. */
  readonly always: readonly number[]
  readonly fields: readonly FieldIndex[]
  readonly paths: PathNode | undefined
  readonly ips: CidrTrie<number> | undefined
}

interface FieldIndex {
  readonly field: RequestField
  readonly values: Map<string, number[]>
  /** Rules that have a pattern there; absent where none has. */
  patterns?: WildcardIndex
}

/** A segment of paths: the rules whose path ends here, and those that from here on have more than plain segments. */
interface PathNode {
  readonly literals: Map<string, PathNode>
  one?: PathNode
  readonly ending: number[]
  readonly open: number[]
}

/** @param rules the conditions of each rule */
export function* indexRules(rules: readonly (readonly Condition[])[]): Pieces<RuleIndex> {
  const groups = new Groups(handleId)
  const filings: (readonly (readonly Filing<Handle>[])[])[][] = []
  for (const conditions of rules) {
    filings.push(
      conditions.map(({ handles }) => handles.map((own) => own.map((handle) => groups.filing(handle)))),
    )
    yield
  }
  const always: number[] = []
  const fields = new Map<string, FieldIndex>()
  let paths: PathNode | undefined
  let ips: CidrTrie<number> | undefined
  for (const [rule, conditions] of filings.entries()) {
    const handles = narrowest(conditions)
    if (handles.length === 0) always.push(rule)
    for (const handle of handles) {
      if (handle.kind === 'path') {
        paths ??= newNode()
        filePath(paths, handle.glob, rule)
      } else if (handle.kind === 'ip') {
        ips ??= cidrTrie([])
        addCidr(ips, handle.cidr, rule)
      } else fileField(fields, handle, rule)
    }
    yield
  }
  return { always, fields: [...fields.values()], paths, ips }
}

/** The rules that the request may meet, in order, each once. */
export function candidates({ always, fields, paths, ips }: RuleIndex, facts: Facts): readonly number[] {
  const found: number[] = []
  for (const own of fields) {
    const value = own.field.read(facts)
    if (typeof value === 'string') findValue(own, value, found)
    else if (value !== undefined) for (const one of value) findValue(own, one, found)
  }
  if (paths !== undefined) collectRules(paths, facts.segments, 0, found)
  if (ips !== undefined && facts.address !== undefined) add(found, valuesAt(ips, facts.address))
  if (found.length === 0) return always
  add(found, always)
  if (found.length === 1) return found
  found.sort((a, b) => a - b)
  return found.filter((rule, i) => rule !== found[i - 1])
}

function handleId(handle: Handle): string {
  if (handle.kind === 'path') return `path ${indexedSegments(handle.glob).join('/')}`
  if (handle.kind === 'ip') return `ip ${handle.cidr.address.words}/${handle.cidr.bits}`
  if (handle.kind === 'piece') return `${handle.field.id} ${pieceId(handle.piece)}`
  return `${handle.field.id}=${handle.value}`
}

/** The handles of the condition that a rule shares with the fewest others; none where no condition narrows. */
function narrowest(conditions: readonly (readonly (readonly Filing<Handle>[])[])[]): readonly Handle[] {
  let best: readonly Filing<Handle>[] = []
  let least = Number.POSITIVE_INFINITY
  for (const alternatives of conditions) {
    if (alternatives.length === 0) continue
    const chosen = alternatives.map(leastShared)
    const size = chosen.reduce((sum, { group }) => sum + group.size, 0)
    if (size <= least) [best, least] = [chosen, size]
  }
  return best.map(({ by }) => by)
}

function fileField(
  fields: Map<string, FieldIndex>,
  handle: Exclude<Handle, { kind: 'path' | 'ip' }>,
  rule: number,
): void {
  const { field } = handle
  const own = made(fields, field.id, (): FieldIndex => ({ field, values: new Map() }))
  if (handle.kind === 'value') made(own.values, handle.value, (): number[] => []).push(rule)
  else {
    own.patterns ??= new WildcardIndex()
    own.patterns.file(handle.piece, rule)
  }
}

function findValue({ values, patterns }: FieldIndex, value: string, found: number[]): void {
  const own = values.get(value)
  if (own !== undefined) add(found, own)
  patterns?.find(value, (rules) => add(found, rules))
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

function filePath(root: PathNode, glob: Glob, rule: number): void {
  const place = indexedSegments(glob)
  const isOpen = place.at(-1) === '**'
  let node = root
  for (const text of isOpen ? place.slice(0, -1) : place) {
    if (text === '*') node = node.one ??= newNode()
    else node = made(node.literals, text, newNode)
  }
  ;(isOpen ? node.open : node.ending).push(rule)
}

function newNode(): PathNode {
  return { literals: new Map(), ending: [], open: [] }
}

/** No node is visited twice, so a path costs at most one visit for each node that rules made. */
function collectRules(node: PathNode, segments: readonly string[], at: number, found: number[]): void {
  add(found, node.open)
  if (at === segments.length) {
    add(found, node.ending)
    return
  }
  const child = node.literals.get(segments[at]!)
  if (child !== undefined) collectRules(child, segments, at + 1, found)
  if (node.one !== undefined) collectRules(node.one, segments, at + 1, found)
}

/** Not by spreading: a call takes only so many arguments. */
function add(found: number[], rules: readonly number[]): void {
  for (const rule of rules) found.push(rule)
}
