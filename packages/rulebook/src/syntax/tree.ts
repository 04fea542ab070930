import type { Alias, Node, Pair, Scalar, YAMLMap } from 'yaml'
import { type Yaml, yaml } from './yaml.ts'

/** Levels of nesting, aliases followed. */
export const MAX_TREE_DEPTH = 100

/** Nodes of a document, aliases followed: what keeps a few lines of nested aliases from becoming gigabytes. */
const MAX_NODES = 1_000_000

/** Numbers that every version of YAML reads alike; `010`, `1_000`, `0x1f` and `1e3` are not, and stay text. */
export const PLAIN_NUMBER: RegExp = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** One node of a document: where it stands, what it says. */
export interface TreeNode {
  /** Offset of the node; of its key where nothing is written. */
  readonly at: number
  /** Offset of the key that names it. */
  readonly key: number | undefined
  /** As plain data, numbers in plain digits and all others as their text. */
  readonly value: unknown
  /** A scalar as YAML 1.2 reads it: `1e3` is 1000. */
  readonly scalar: unknown
  /** A scalar as it is written, without quotes; empty for nothing, lists and maps. */
  readonly text: string
  readonly children: ReadonlyMap<PropertyKey, TreeNode> | undefined
}

/** Turns YAML into tree nodes: follows aliases and `<<` merges, reports what no rulebook may hold. */
export class TreeBuilder {
  readonly #yaml: Yaml = yaml()
  readonly #report: (offset: number, message: string) => void
  readonly #anchors = new Map<string, Node>()
  readonly #open = new Set<Node>()
  #nodes = 0
  /** What was built is cut short. */
  outOfBounds = false

  constructor(report: (offset: number, message: string) => void) {
    this.#report = report
  }

  build(node: Node | null, key?: number): TreeNode {
    const at = node?.range?.[0] ?? key ?? 0
    const { isAlias, isMap, isScalar, isSeq } = this.#yaml
    this.#nodes += 1
    if (this.#nodes === MAX_NODES) {
      this.outOfBounds = true
      this.#report(at, `more than ${MAX_NODES} values, aliases followed`)
    }
    if (this.#nodes >= MAX_NODES || node === null) return treeNode(key ?? at, key, null, '')
    if (isAlias(node)) return this.#alias(node, at, key)
    if (isScalar(node)) return this.#scalar(node, at, key)
    if (this.#open.size === MAX_TREE_DEPTH) {
      this.outOfBounds = true
      this.#report(at, `nested more than ${MAX_TREE_DEPTH} levels deep, aliases followed`)
      return treeNode(at, key, null, '')
    }
    if (!isMap(node) && !isSeq(node)) return treeNode(at, key, null, '')
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    this.#open.add(node)
    const children = isMap(node) ? this.#map(node) : this.#list(node.items as Node[])
    this.#open.delete(node)
    const values = [...children].map(([name, child]) => [name, child.value] as const)
    const value = isMap(node) ? Object.fromEntries(values) : values.map(([, child]) => child)
    return treeNode(at, key, value, '', children)
  }

  #alias(alias: Alias, at: number, key: number | undefined): TreeNode {
    const target = this.#anchors.get(alias.source)
    if (target === undefined) this.#report(at, `no anchor &${alias.source} before this alias`)
    else if (this.#open.has(target)) this.#report(at, `&${alias.source} holds an alias of itself`)
    else return { ...this.build(target), ...(key !== undefined && { key }) }
    return treeNode(at, key, null, '')
  }

  #scalar(node: Scalar, at: number, key: number | undefined): TreeNode {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    const { value } = node
    if (value === null) return treeNode(key ?? at, key, null, '')
    const text = typeof value === 'string' ? value : (node.source ?? String(value))
    const isOdd = typeof value === 'number' && !PLAIN_NUMBER.test(text)
    return treeNode(at, key, isOdd ? text : value, text, undefined, value)
  }

  #list(items: readonly Node[]): Map<PropertyKey, TreeNode> {
    return new Map(items.map((item, index) => [index, this.build(item)]))
  }

  #map(map: YAMLMap): Map<PropertyKey, TreeNode> {
    const { isScalar } = this.#yaml
    const children = new Map<PropertyKey, TreeNode>()
    const merged: Pair[] = []
    for (const pair of map.items) {
      const key = pair.key as Scalar
      const isMerge = isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
      if (isMerge) merged.push(pair)
      const name = isMerge ? undefined : this.#name(key, map)
      if (name === undefined) continue
      if (children.has(name)) this.#report(key.range![0], `${JSON.stringify(name)} is defined twice`)
      children.set(name, this.build(pair.value as Node | null, key.range![0]))
    }
    for (const pair of merged) this.#merge(children, pair)
    return children
  }

  #name(key: Scalar, map: YAMLMap): string | undefined {
    const at = key?.range?.[0] ?? map.range![0]
    if (!this.#yaml.isScalar(key)) this.#report(at, 'a key must be text')
    else if (key.value === '__proto__') this.#report(at, '"__proto__" cannot be a key')
    else if (typeof key.value === 'string') return key.value
    else this.#report(at, `a key must be text, not ${key.source}: put it in quotes`)
    return undefined
  }

  /** `<<: *base` or `<<: [*a, *b]`: keys of the map's own, and of an earlier base, come first. */
  #merge(children: Map<PropertyKey, TreeNode>, pair: Pair): void {
    const value = pair.value as Node | null
    const bases = this.#yaml.isSeq(value) ? (value.items as Node[]) : [value]
    for (const node of bases) {
      const base = this.build(node)
      if (base.children === undefined || Array.isArray(base.value)) {
        this.#report((pair.key as Scalar).range![0], '<< merges maps, and this is none')
        continue
      }
      for (const [name, child] of base.children) if (!children.has(name)) children.set(name, child)
    }
  }
}

export function treeNode(
  at: number,
  key: number | undefined,
  value: unknown,
  text: string,
  children?: ReadonlyMap<PropertyKey, TreeNode>,
  scalar: unknown = null,
): TreeNode {
  return { at, key, value, scalar, text, children }
}
