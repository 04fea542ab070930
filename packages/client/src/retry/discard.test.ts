import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { discard } from './discard.ts'

/** A body of so many pieces of 1,024 bytes, and what became of it. */
function bodyOf(pieces: number): {
  body: ReadableStream<Uint8Array>
  read: () => number
  cut: () => boolean
} {
  let [count, cut] = [0, false]
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (count === pieces) controller.close()
        else if (count++ < pieces) controller.enqueue(new Uint8Array(1_024))
      },
      cancel: () => {
        cut = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, read: () => count, cut: () => cut }
}

it('an answer that nobody wants is read to its end, so that its connection can be used again', async () => {
  const { body, read, cut } = bodyOf(10)
  discard({ body })
  for (let i = 0; i < 100; i++) await turn()
  expect([read(), cut()]).toEqual([10, false])
})

it('a long one is cut off', async () => {
  const { body, read, cut } = bodyOf(1_000_000)
  discard({ body })
  for (let i = 0; i < 200; i++) await turn()
  expect([read(), cut()]).toEqual([64, true])
})

it('one that does not come is cut off when it is asked for', async () => {
  let cut = false
  const body = new ReadableStream<Uint8Array>({
    pull: () => new Promise(() => undefined),
    cancel: () => {
      cut = true
    },
  })
  const stop = discard({ body })
  await turn()
  expect(cut).toBe(false)
  stop()
  await turn()
  expect(cut).toBe(true)
})

it('one without a body, or that breaks, is no matter', async () => {
  discard({ body: null })()
  discard({ body: new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) }) })
  await turn()
})
