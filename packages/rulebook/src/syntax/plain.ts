import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, type ScalarEvent } from 'js-yaml'
import { PLAIN_NUMBER, type TreeNode, treeNode } from './tree.ts'

/** Collections within collections. Those that are nested deeper are read the other way, which has a bound of its own. */
const MAX_DEPTH = 40
/** Signs and line ends of a file, each of which may begin a value: what bounds the memory for a file's events. */
const MAX_MARKS = 1_000_000

/** Thrown where a text holds what is not read here. */
const UNUSUAL: unique symbol = Symbol('unusual')

/**
 * The tree of a text that holds maps, lists and scalars alone: a sixth of the time that reading it with all that YAML has
 * takes.
 * @returns `undefined` for all others, right or wrong
 */
export function plainTree(text: string): TreeNode | undefined {
  if (!isUsual(text)) return undefined
  try {
    return new PlainReader(text, parseEvents(text, { maxDepth: MAX_DEPTH })).read()
  } catch {
    return undefined // what is wrong with it, the other way tells, with all its mistakes
  }
}

function isUsual(text: string): boolean {
  if (/\uFEFF|^(?:\.\.\.|%)/m.test(text)) return false
  let marks = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 9:
        return false
      case 13:
        if (text.charCodeAt(at + 1) !== 10) return false
        break
      case 10:
      case 44:
      case 45:
      case 58:
      case 91:
      case 123:
        if (++marks > MAX_MARKS) return false
    }
  }
  return true
}

class PlainReader {
  readonly #text: string
  readonly #events: readonly Event[]
  #next = 1

  constructor(text: string, events: readonly Event[]) {
    this.#text = text
    this.#events = events
  }

  read(): TreeNode {
    const [document] = this.#events
    if (document?.type !== EVENT_ID.DOCUMENT || document.directives.length > 0) throw UNUSUAL
    if (document.explicitStart && !/^---/m.test(this.#text)) throw UNUSUAL // js-yaml takes an indented --- too
    const root = this.#node(this.#take(), undefined)
    if (this.#take().type !== EVENT_ID.POP || this.#next !== this.#events.length) throw UNUSUAL
    return root
  }

  #take(): Event {
    const event = this.#events[this.#next++]
    if (event === undefined) throw UNUSUAL
    return event
  }

  #node(event: Event, key: number | undefined): TreeNode {
    if (event.type === EVENT_ID.ALIAS || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP)
      throw UNUSUAL
    if (event.anchorStart >= 0 || event.tagStart >= 0) throw UNUSUAL
    if (event.type === EVENT_ID.SCALAR) return this.#scalar(event, key)
    return event.type === EVENT_ID.MAPPING ? this.#map(event.start, key) : this.#list(event.start, key)
  }

  #list(at: number, key: number | undefined): TreeNode {
    const children = new Map<PropertyKey, TreeNode>()
    const value: unknown[] = []
    for (let event = this.#take(); event.type !== EVENT_ID.POP; event = this.#take()) {
      const child = this.#node(event, undefined)
      children.set(value.length, child)
      value.push(child.value)
    }
    return treeNode(at, key, value, '', children)
  }

  #map(at: number, key: number | undefined): TreeNode {
    const children = new Map<PropertyKey, TreeNode>()
    const value: Record<string, unknown> = {}
    for (let event = this.#take(); event.type !== EVENT_ID.POP; event = this.#take()) {
      if (event.type !== EVENT_ID.SCALAR) throw UNUSUAL
      const named = this.#node(event, undefined)
      const name = named.value
      if (typeof name !== 'string' || name === '__proto__' || name === '<<' || children.has(name))
        throw UNUSUAL
      const child = this.#node(this.#take(), named.at)
      children.set(name, child)
      value[name] = child.value
    }
    return treeNode(at, key, value, '', children)
  }

  #scalar(event: ScalarEvent, key: number | undefined): TreeNode {
    const { style, valueStart } = event
    if (valueStart < 0) {
      if (key === undefined) throw UNUSUAL
      return treeNode(key, key, null, '')
    }
    const text = getScalarValue(this.#text, event)
    if (style !== SCALAR_STYLE.PLAIN) {
      if (style !== SCALAR_STYLE.SINGLE_QUOTED && style !== SCALAR_STYLE.DOUBLE_QUOTED) throw UNUSUAL
      return treeNode(valueStart - 1, key, text, text, undefined, text)
    }
    const scalar = plainScalar(text)
    if (scalar === null) return treeNode(key ?? valueStart, key, null, '')
    return treeNode(valueStart, key, scalar, text, undefined, scalar)
  }
}

/** What the core schema of YAML 1.2 reads as another kind than text. */
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])
const NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

function plainScalar(text: string): string | number | boolean | null {
  if (PLAIN_NUMBER.test(text)) return Number(text)
  if (NUMBER.test(text)) throw UNUSUAL
  const word = WORDS.get(text)
  return word === undefined ? text : word
}
