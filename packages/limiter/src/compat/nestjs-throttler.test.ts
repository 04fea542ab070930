import type { ThrottlerStorage } from '@nestjs/throttler'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { throttlerStorage } from './nestjs-throttler.ts'

describe('in @nestjs/throttler', () => {
  const setUp = () => {
    const clock = new FakeClock()
    const storage: ThrottlerStorage = throttlerStorage({ name: 'test', store: new MemoryStore({ clock }) })
    return { clock, storage }
  }

  it('T37: counts hits, and tells times that are whole seconds, rounded up', async () => {
    const { clock, storage } = setUp()
    const hit = () => storage.increment('k', 60_000, 2, 0, 'default')
    const open = { isBlocked: false, timeToBlockExpire: 0 }
    expect(await hit()).toEqual({ totalHits: 1, timeToExpire: 60, ...open })
    clock.advance(100)
    expect(await hit()).toEqual({ totalHits: 2, timeToExpire: 60, ...open })
    expect(await hit()).toEqual({ totalHits: 3, timeToExpire: 60, isBlocked: true, timeToBlockExpire: 60 })
  })

  it('blocks who is over the limit for as long as it says', async () => {
    const { clock, storage } = setUp()
    const hit = () => storage.increment('k', 1_000, 1, 10_000, 'default')
    await hit()
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 10 })
    clock.advance(4_000)
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 6 })
    clock.advance(6_000)
    expect(await hit()).toMatchObject({ isBlocked: false, totalHits: 1 })
  })

  it('T39: lets a short block end without giving the window’s hits back', async () => {
    const { clock, storage } = setUp()
    let admitted = 0
    for (let ms = 0; ms < 1_500; ms += 50) {
      if (!(await storage.increment('k', 60_000, 2, 200, 'default')).isBlocked) admitted++
      clock.advance(50)
    }
    expect(admitted).toBe(2)
  })

  it('T40: goes on admitting the limit to whoever keeps asking', async () => {
    const { clock, storage } = setUp()
    let admitted = 0
    for (let ms = 0; ms < 3_000; ms += 50) {
      if (!(await storage.increment('k', 500, 2, 0, 'default')).isBlocked) admitted++
      clock.advance(50)
    }
    expect(admitted).toBe(12)
  })

  it('T58: keeps throttlers apart that give one key, and counts by numbers', async () => {
    const { storage } = setUp()
    const short = () => storage.increment('k', 1_000, 1, 0, 'short')
    const long = () => storage.increment('k', 60_000, 2, 0, 'long')
    expect(
      [await short(), await long(), await short(), await long(), await long()].map(
        ({ totalHits, isBlocked }) => [totalHits, isBlocked],
      ),
    ).toEqual([
      [1, false],
      [1, false],
      [2, true],
      [2, false],
      [3, true],
    ])
  })

  it('T59: refuses everything at a limit of 0', async () => {
    expect(await setUp().storage.increment('k', 1_000, 0, 0, 'default')).toMatchObject({ isBlocked: true })
  })

  it('opens the next window with the first hit after the last', async () => {
    const { clock, storage } = setUp()
    const hit = () => storage.increment('k', 60_000, 2, 0, 'default')
    await hit()
    clock.advance(100_000)
    expect(await hit()).toMatchObject({ totalHits: 1, timeToExpire: 60 })
  })

  it('counts numbers as their text', async () => {
    const { storage } = setUp()
    await storage.increment(42 as never, 1_000, 9, 0, 'default')
    expect(await storage.increment('42', 1_000, 9, 0, 'default')).toMatchObject({ totalHits: 2 })
  })

  it('FB-096: what becomes of one key touches no other', async () => {
    const { clock, storage } = setUp()
    const hit = (key: string) => storage.increment(key, 60_000, 3, 60_000, 'default')
    for (let i = 0; i < 4; i++) await hit('a')
    for (let i = 0; i < 3; i++) await hit('b')
    clock.advance(60_000)
    expect(await hit('a')).toMatchObject({ isBlocked: false })
    clock.advance(60_000)
    expect(await hit('b')).toMatchObject({ isBlocked: false, totalHits: 1 })
  })
})
