/** Units that were charged together, to be granted here. */
export interface Grant {
  /** When: the store's clock, in microseconds. */
  readonly at: number
  units: number
  /** Monotonic milliseconds from which they no longer count. */
  readonly until: number
}

/** Units of one key that are charged already and not yet granted. The oldest go first. */
export class Grants {
  #grants: Grant[] = []

  /** How many there are at `now`; forgets those whose time is over. */
  units(now: number): number {
    let units = 0
    let over = false
    for (const grant of this.#grants) {
      if (grant.until <= now) over = true
      else units += grant.units
    }
    if (over) this.#grants = this.#grants.filter(({ until }) => until > now)
    return units
  }

  add(grant: Grant): void {
    this.#grants.push(grant)
  }

  /**
   * Grants `cost` ≥ 1 of the units that there are.
   * @returns when they were charged; the oldest, where they are from several grants: that never gives back too much
   */
  grant(cost: number): number {
    const { at } = this.#grants[0]!
    let wanted = cost
    while (wanted >= this.#grants[0]!.units) {
      wanted -= this.#grants.shift()!.units
      if (wanted === 0) return at
    }
    this.#grants[0]!.units -= wanted
    return at
  }

  /** All that is left at `now`; then nothing is. */
  empty(now: number): readonly Grant[] {
    const left = this.#grants.filter(({ until }) => until > now)
    this.#grants = []
    return left
  }
}
