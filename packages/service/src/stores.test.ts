import { expect, test } from 'vitest'
import { bench, GatedStore, post } from './testing.ts'

const RULES = `
domain: shop
limits:
  - { name: search, key: [user], limit: 1000/365d, algorithm: fixed-window, lease: 20 }
`

test('a rule with a lease spares the shared store, and what it left is given back at the end', async () => {
  const store = new GatedStore()
  let questions = 0
  const { decide } = store
  store.decide = (...args) => {
    questions++
    return decide.apply(store, args)
  }
  const service = await bench(RULES, { store })
  const body = { domain: 'shop', request: { attributes: { user: 'ada' } } }
  const remaining = async (url: string): Promise<number> =>
    (await post(service.http, url, body)).body.remaining
  for (let i = 1; i <= 10; i++) expect(await remaining('/v1/check')).toBe(1000 - i)
  expect(questions).toBe(2)

  // A reservation out of a lease can be cancelled, into the window that it was charged to.
  const { id } = (await post(service.http, '/v1/reserve', { ...body, cost: 5 })).body
  expect(await remaining('/v1/check?peek')).toBe(985)
  expect((await post(service.http, '/v1/cancel', { id })).status).toBe(204)

  await service.release()
  expect(await remaining('/v1/check?peek')).toBe(990)
  await service.close()
})
