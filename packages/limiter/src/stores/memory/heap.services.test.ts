import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const INDEX = new URL('../../../dist/index.js', import.meta.url).href
/** SLUICE_HEAP=512 SLUICE_KEYS=2000000 for the whole of it. */
const HEAP = process.env.SLUICE_HEAP ?? '32'
const KEYS = process.env.SLUICE_KEYS ?? '1000000'

it('OF-41: a small heap survives more keys than it can hold', async () => {
  const program = `
    const { createLimiter, MemoryStore } = await import(${JSON.stringify(INDEX)})
    const store = new MemoryStore()
    const policy = { algorithm: 'sliding-window-log', limit: 5, period: '1d' }
    const limiter = createLimiter({ store, policies: { a: policy } })
    limiter.check('offender', { cost: 5 })
    for (let i = 0; i < ${KEYS}; i++) limiter.check('key ' + i)
    console.log(JSON.stringify([limiter.check('offender').allowed, store.size > 10_000, store.sharedCharges > 0]))`
  const args = [`--max-old-space-size=${HEAP}`, '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(JSON.parse(stdout)).toEqual([false, true, true])
})
