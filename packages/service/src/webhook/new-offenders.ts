import type { CountedRoute, OffenderList } from '@sluice/limiter/offenders'

/** One key that a policy refuses, as it is posted. */
export interface PostedOffender {
  readonly domain: string
  readonly policy: string
  readonly key: string
  /** Times over the policy's limit since `since`: at least, and at most. */
  readonly denied: number
  readonly atMost: number
  /** Milliseconds since the epoch. */
  readonly since: number
  readonly routes: readonly CountedRoute[]
}

/**
 * Which offenders are new, or were refused more often than when they were posted last. It remembers those that are in
 * the lists, and no others.
 */
export class NewOffenders {
  #posted: ReadonlyMap<string, number> = new Map()

  /** @param most the highest of them. @returns not posted yet: {@link posted} says that they were */
  of(lists: readonly OffenderList[], most: number): readonly PostedOffender[] {
    const all = lists.flatMap(({ domain, policy, since, denied }) =>
      denied.keys
        .filter(({ atLeast }) => atLeast > 0)
        .map(({ key, atLeast, atMost, routes = [] }) => ({
          ...{ domain, policy, key, denied: atLeast, atMost, since, routes },
        })),
    )
    // A count falls when its window goes on: from there it may grow again.
    this.#posted = new Map(
      all.flatMap((each): [string, number][] => {
        const before = this.#posted.get(idOf(each))
        return before === undefined ? [] : [[idOf(each), Math.min(before, each.denied)]]
      }),
    )
    return all
      .filter((each) => each.denied > (this.#posted.get(idOf(each)) ?? 0))
      .sort((a, b) => b.denied - a.denied)
      .slice(0, most)
  }

  posted(offenders: readonly PostedOffender[]): void {
    this.#posted = new Map([
      ...this.#posted,
      ...offenders.map((each): [string, number] => [idOf(each), each.denied]),
    ])
  }
}

function idOf({ domain, policy, key }: PostedOffender): string {
  return JSON.stringify([domain, policy, key])
}
