import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startTimer } from './timers.ts'

const DAY = 86_400_000
/** The longest wait that the platform keeps. */
const LONGEST = 2 ** 31 - 1

/** Timers that go off one by one, and what they were asked to wait. */
function platform() {
  const pending = new Map<number, () => void>()
  const waits: number[] = []
  let last = 0
  return {
    waits,
    pending,
    goOff: () => {
      const [id, go] = [...pending][0]!
      pending.delete(id)
      go()
    },
    timers: {
      setTimeout: (go: () => void, ms: number) => {
        waits.push(ms)
        pending.set(++last, go)
        return last
      },
      clearTimeout: (timer: number) => void pending.delete(timer),
    },
  }
}

describe('a timer', () => {
  it('OF-11: waits in parts that the platform can wait, and calls back once', () => {
    for (const ms of [0, 1, 999.4, LONGEST, LONGEST + 1, 30 * DAY, 60 * DAY, 365 * DAY]) {
      const { timers, waits, pending, goOff } = platform()
      let calls = 0
      startTimer(() => calls++, ms, { timers })
      while (pending.size > 0) {
        expect(calls).toBe(0)
        goOff()
      }
      expect(calls).toBe(1)
      expect(Math.max(...waits)).toBeLessThanOrEqual(LONGEST)
      expect(waits.reduce((sum, each) => sum + each)).toBe(Math.ceil(ms))
    }
  })

  it('OF-11: can be stopped in any part', () => {
    for (const parts of [0, 1, 2]) {
      const { timers, pending, goOff } = platform()
      const stop = startTimer(() => expect.unreachable(), 60 * DAY, { timers })
      for (let i = 0; i < parts; i++) goOff()
      stop()
      expect(pending.size).toBe(0)
    }
  })

  it('OF-11: does not go off early on the platform itself', async () => {
    const stop = startTimer(() => expect.unreachable(), 60 * DAY, { unref: true })
    await new Promise((resolve) => setTimeout(resolve, 50)) // Node would call back after one millisecond
    stop()
  })
})

/** Files that start a timer by themselves, and why it cannot be too long. */
const CONSTANT: Readonly<Record<string, string>> = {
  'limiter/src/clock.ts': 'at once',
  'limiter/src/flow/timers.ts': 'the helper',
  'limiter/src/stores/deny-cache.ts': 'at most the longest that a timer takes',
  'limiter/src/stores/memory/memory-states.ts': 'constants',
  'rulebook/src/read.ts': 'at most a minute',
  'cli/src/main.ts': 'a constant of a command',
  'cli/src/stores.ts': 'a constant',
  'cli/src/commands/load.ts': 'at most an hour',
  'cli/src/shadow/shadow-figures.ts': 'a constant',
  'limiter/src/stores/fallback.ts': 'an example',
  'service/src/admin/health.ts': 'a constant',
  'service/src/tls-files.ts': 'a constant',
  'service/src/grpc/health.ts': 'a constant',
  'service/src/http/batch.ts': 'timeouts of a socket, by Node',
  'service/src/turns.ts': 'a turn of the event loop',
  'service/src/drain.ts': 'an interval of 50 ms',
  'service/src/rlqs/assignments.ts': 'a constant',
  'service/src/rules/rules-watcher.ts': 'an interval that no option sets',
  'service/src/xds/xds-rules.ts': 'between two constants',
}

it('OF-11: no other file starts timers: their waits could be too long', () => {
  const root = new URL('../../../', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      /^(limiter|rulebook|service|cli)\/src\/.*\.ts$/.test(path) && !/\.(test|test-support)\.ts$/.test(path),
  )
  const own = files.filter((path) =>
    /\b(setTimeout|setInterval)\((?!go: )|AbortSignal\.timeout|timers\/promises/.test(
      readFileSync(new URL(path, root), 'utf8'),
    ),
  )
  expect(files.length).toBeGreaterThan(200)
  expect(own.filter((path) => !Object.hasOwn(CONSTANT, path))).toEqual([])
})
