/** Questions that go on at once after a turn that had one only: the next one after them finds out again. */
const LONE = 7

/**
 * The end of this turn of the event loop. Questions of one turn are decided together: each part of the code then runs
 * for all of them while it is in the processor's caches, which saves about a sixth of what a question costs. Where
 * questions come one by one, most do not wait: there a turn costs a twentieth.
 */
export class TurnEnd {
  #end: Promise<void> | undefined
  #asked = 0
  #lone = 0

  /** Undefined where there is nothing to wait for, and nobody waits. */
  ended(): Promise<void> | undefined {
    if (this.#end === undefined && this.#lone > 0) {
      this.#lone--
      return undefined
    }
    this.#asked++
    this.#end ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#lone = this.#asked === 1 ? LONE : 0
        this.#asked = 0
        this.#end = undefined
        resolve()
      })
    })
    return this.#end
  }
}
