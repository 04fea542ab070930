import type { Relay } from './relay.ts'

/** One way in which a store fails. */
export interface StoreFailure {
  readonly name: string
  /** What the program under test meets. */
  readonly means: string
  begin(relay: Relay): Promise<void> | void
  /** Absent: it passes by itself, new connections work at once. */
  end?(relay: Relay): Promise<void> | void
}

const SLOW_MS = 200

export const STORE_FAILURES: readonly StoreFailure[] = [
  {
    name: 'hang',
    means: 'connections stay open, and nothing comes through',
    begin: (relay) => relay.hang(),
    end: (relay) => relay.resume(),
  },
  {
    name: 'cut',
    means: 'connections end, and new ones are refused',
    begin: (relay) => relay.refuse(),
    end: (relay) => relay.accept(),
  },
  {
    name: 'slow',
    means: `each answer comes ${SLOW_MS} ms late`,
    begin: (relay) => {
      relay.delayMs = SLOW_MS
    },
    end: (relay) => {
      relay.delayMs = 0
    },
  },
  {
    name: 'half-open',
    means: 'the connections of now pass on nothing, new ones work',
    begin: (relay) => relay.halfOpen(),
  },
  { name: 'reset', means: 'connections end by RST, new ones work', begin: (relay) => relay.reset() },
]

/**
 * The store ends and starts again. @param command what does that; absent: the relay plays it
 * @example
 * const failures = [...STORE_FAILURES, restartBy(undefined)]
 */
export function restartBy(command: (() => Promise<void>) | undefined): StoreFailure {
  return {
    name: 'restart',
    means:
      command === undefined
        ? 'connections are refused for a while, as while it starts'
        : 'it is started again',
    begin: (relay) => relay.refuse(),
    async end(relay) {
      await command?.()
      await relay.accept()
    },
  }
}
