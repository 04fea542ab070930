/** What a heap holds: it knows its own place there, so that it can be moved or taken out at once. */
export interface HeapItem {
  /** Index in the heap; −1: in none. Written by the heap alone. */
  place: number
}

/**
 * The least of many, where each can also leave or change: a binary heap. Every change takes O(log n) steps.
 * @example
 * const heap = new Heap<HeapItem & { at: number }>((a, b) => a.at < b.at)
 */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = []
  readonly #isBefore: (a: T, b: T) => boolean

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  /** In no order. */
  get items(): readonly T[] {
    return this.#items
  }

  /** Adds it, or moves it to where it belongs now. */
  put(item: T): void {
    if (item.place < 0) {
      item.place = this.#items.length
      this.#items.push(item)
    }
    this.#up(item.place)
    this.#down(item.place)
  }

  /** Without effect where it is not in. */
  remove(item: T): void {
    const { place } = item
    if (place < 0) return
    item.place = -1
    const last = this.#items.pop()!
    if (last === item) return
    this.#set(place, last)
    this.#up(place)
    this.#down(last.place)
  }

  #up(from: number): void {
    let at = from
    const item = this.#items[at]!
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(item, this.#items[parent]!)) break
      this.#set(at, this.#items[parent]!)
      at = parent
    }
    this.#set(at, item)
  }

  #down(from: number): void {
    let at = from
    const item = this.#items[at]!
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#items.length) break
      const other = child + 1
      if (other < this.#items.length && this.#isBefore(this.#items[other]!, this.#items[child]!))
        child = other
      if (!this.#isBefore(this.#items[child]!, item)) break
      this.#set(at, this.#items[child]!)
      at = child
    }
    this.#set(at, item)
  }

  #set(at: number, item: T): void {
    this.#items[at] = item
    item.place = at
  }
}
