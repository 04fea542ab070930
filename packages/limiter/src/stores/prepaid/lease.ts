/** Units charged together. */
export interface Parcel {
  /** When: the store's clock, in microseconds. */
  readonly at: number
  units: number
  /** Monotonic milliseconds from which they no longer count. */
  readonly until: number
}

/** Units of one key that are charged already and not yet granted. The oldest go first. */
export class Lease {
  #parcels: Parcel[] = []

  /** How many there are at `now`; forgets those whose time is over. */
  units(now: number): number {
    let units = 0
    let over = false
    for (const parcel of this.#parcels) {
      if (parcel.until <= now) over = true
      else units += parcel.units
    }
    if (over) this.#parcels = this.#parcels.filter(({ until }) => until > now)
    return units
  }

  add(parcel: Parcel): void {
    this.#parcels.push(parcel)
  }

  /**
   * Grants `cost` ≥ 1 of the units that there are.
   * @returns when they were charged; the oldest, where they are from several parcels: that never gives back too much
   */
  grant(cost: number): number {
    const { at } = this.#parcels[0]!
    let wanted = cost
    while (wanted >= this.#parcels[0]!.units) {
      wanted -= this.#parcels.shift()!.units
      if (wanted === 0) return at
    }
    this.#parcels[0]!.units -= wanted
    return at
  }

  /** All that is left at `now`; then nothing is. */
  empty(now: number): readonly Parcel[] {
    const left = this.#parcels.filter(({ until }) => until > now)
    this.#parcels = []
    return left
  }
}
