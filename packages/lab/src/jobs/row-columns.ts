export interface RowArrays {
  /** Microseconds since the epoch. */
  readonly at: Float64Array<ArrayBuffer>
  /** Microseconds that each took; −1: not known. */
  readonly duration: Float64Array<ArrayBuffer>
  /** The number of what was asked. */
  readonly ids: Int32Array<ArrayBuffer>
}

/** Requests column by column, as many as come. */
export class RowColumns {
  #at: Float64Array<ArrayBuffer>
  #duration: Float64Array<ArrayBuffer>
  #ids: Int32Array<ArrayBuffer>
  #length = 0

  constructor(capacity: number) {
    this.#at = new Float64Array(capacity)
    this.#duration = new Float64Array(capacity)
    this.#ids = new Int32Array(capacity)
  }

  get length(): number {
    return this.#length
  }

  add(at: number, duration: number, id: number): void {
    if (this.#length === this.#at.length) this.#grow()
    this.#at[this.#length] = at
    this.#duration[this.#length] = duration
    this.#ids[this.#length++] = id
  }

  /** Gives them away, and begins anew. */
  take(): RowArrays {
    const taken = {
      at: this.#at.slice(0, this.#length),
      duration: this.#duration.slice(0, this.#length),
      ids: this.#ids.slice(0, this.#length),
    }
    this.#length = 0
    return taken
  }

  #grow(): void {
    const size = this.#length * 2 + 1_024
    const [at, duration, ids] = [new Float64Array(size), new Float64Array(size), new Int32Array(size)]
    at.set(this.#at)
    duration.set(this.#duration)
    ids.set(this.#ids)
    this.#at = at
    this.#duration = duration
    this.#ids = ids
  }
}
