import { createLimiter } from '@sluice/limiter'
import { expect, test } from 'vitest'
import { Fullness } from './fullness.ts'

/** A limit of ten in a day, and how full it was. */
function bench(counts: (domain: string, policy: string) => boolean = () => true) {
  const fullness = new Fullness(counts)
  const limiter = createLimiter({
    name: 'shop',
    policies: { login: { algorithm: 'fixed-window', limit: 10, period: '1d' } },
    observe: fullness.observe,
  })
  return { limiter, bins: () => fullness.take()('shop', 'login') }
}

test('decisions are counted by the tenth of the limit in use, refusals apart, and looks not at all', () => {
  const { limiter, bins } = bench()
  limiter.check('ada')
  limiter.check('ada', { cost: 4 })
  limiter.check('ada', { cost: 5 })
  limiter.check('ada')
  limiter.peek('ada')
  expect(bins()).toEqual([0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1])
  expect(bins()).toEqual(Array(11).fill(0))
})

test('beyond 1,000 decisions of a second one in 16 is counted', () => {
  const { limiter, bins } = bench()
  for (let i = 0; i < 1_000 + 1_600; i++) limiter.check(`key ${i}`)
  expect(bins()[1]).toBe(1_000 + 100)
})

test('policies that are none of the rulebook are left out', () => {
  const { limiter, bins } = bench(() => false)
  limiter.check('ada')
  expect(bins()).toEqual(Array(11).fill(0))
})
