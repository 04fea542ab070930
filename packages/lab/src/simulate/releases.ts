/** What ends at some time, the earliest first: a binary heap. */
export class Releases<T> {
  readonly #heap: { readonly at: number; readonly what: T }[] = []

  /** When the earliest ends; infinity where nothing is waited for. */
  get next(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY
  }

  add(at: number, what: T): void {
    const heap = this.#heap
    heap.push({ at, what })
    let i = heap.length - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (heap[parent]!.at <= heap[i]!.at) return
      this.#swap(i, parent)
      i = parent
    }
  }

  /** Takes out the earliest; there must be one. */
  take(): T {
    const heap = this.#heap
    const { what } = heap[0]!
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    return what
  }

  clear(): void {
    this.#heap.length = 0
  }

  #sink(): void {
    const heap = this.#heap
    for (let i = 0; ; ) {
      let least = 2 * i + 1
      if (least >= heap.length) return
      if (least + 1 < heap.length && heap[least + 1]!.at < heap[least]!.at) least++
      if (heap[i]!.at <= heap[least]!.at) return
      this.#swap(i, least)
      i = least
    }
  }

  #swap(a: number, b: number): void {
    const kept = this.#heap[a]!
    this.#heap[a] = this.#heap[b]!
    this.#heap[b] = kept
  }
}
