import { expect, test } from 'vitest'
import { TurnEnd } from './turn-end.ts'

/** What becomes of `count` questions of one turn: whether each waits. */
async function turnOf(turn: TurnEnd, count: number): Promise<boolean[]> {
  const ends = Array.from({ length: count }, () => turn.ended())
  await Promise.all(ends)
  return ends.map((end) => end !== undefined)
}

test('questions of one turn wait for its end together', async () => {
  const turn = new TurnEnd()
  expect(await turnOf(turn, 3)).toEqual([true, true, true])
  expect(turn.ended()).toBe(turn.ended())
  expect(await turnOf(turn, 2)).toEqual([true, true])
})

test('after a turn of one, seven go on at once, and the eighth waits for others', async () => {
  const turn = new TurnEnd()
  expect(await turnOf(turn, 1)).toEqual([true])
  for (let i = 0; i < 7; i++) expect(await turnOf(turn, 1)).toEqual([false])
  expect(await turnOf(turn, 2)).toEqual([true, true])
  expect(await turnOf(turn, 2)).toEqual([true, true])
})

test('nobody goes before one who waits', async () => {
  const turn = new TurnEnd()
  await turnOf(turn, 1)
  await turnOf(turn, 7)
  expect(await turnOf(turn, 3)).toEqual([true, true, true])
})
