import { Writable } from 'node:stream'
import { StoreError } from '@sluice/limiter'
import { describe, expect, test } from 'vitest'
import { createLog, logEvents } from './log.ts'

/** Keeps what is written until it is read. */
function reader(): { stream: Writable; read: () => Promise<string[]> } {
  let text = ''
  let reading = false
  const waiting: (() => void)[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      if (reading) done()
      else waiting.push(done)
    },
  })
  const read = async (): Promise<string[]> => {
    reading = true
    for (const done of waiting.splice(0)) done()
    await new Promise((resolve) => stream.write('', resolve))
    reading = false
    return text.trim().split('\n')
  }
  return { stream, read }
}

describe('the log', () => {
  test('OF-68: drops what its reader leaves for too long, and tells how much', async () => {
    const { stream, read } = reader()
    const { log, dropped } = createLog({ level: 'debug', stream })
    for (let i = 0; i < 20_000; i++) log.debug({ text: 'x'.repeat(100) }, `line ${i}`)
    expect(stream.writableLength).toBeLessThan(1_100_000)
    expect(dropped()).toBeGreaterThan(0)
    const kept = 20_000 - dropped()
    expect(await read()).toHaveLength(kept)
    log.info('more')
    const [told, more] = (await read()).slice(kept).map((line) => JSON.parse(line))
    expect(told).toMatchObject({
      lines: dropped(),
      msg: expect.stringMatching(/^lines were dropped: the log is read too slowly; see http/),
    })
    expect(more).toMatchObject({ msg: 'more' })
  })

  test('OF-51: tells each reason for which the store fails, once', async () => {
    const { stream, read } = reader()
    const observe = logEvents(createLog({ stream }).log)
    for (const message of ['ECONNRESET', 'WRONGPASS', 'ECONNRESET', 'WRONGPASS']) {
      const cause = new Error(message)
      observe({ type: 'store-failed', error: new StoreError(`Redis failed: ${message}`, { cause }) })
    }
    const reasons = (await read()).map((line) => JSON.parse(line).reason)
    expect(reasons).toEqual(['Redis failed: ECONNRESET', 'Redis failed: WRONGPASS'])
  })

  test('says that the store fails, and why, and that it works again, when its breakers say so', async () => {
    const { stream, read } = reader()
    const observe = logEvents(createLog({ stream }).log)
    const change = (state: 'closed' | 'open' | 'probing', shard: number): void =>
      observe({ type: 'breaker', state, shard })
    const fail = (message: string): void => observe({ type: 'store-failed', error: new StoreError(message) })
    fail('ECONNRESET')
    change('open', 1)
    change('open', 2)
    change('probing', 1)
    change('closed', 1)
    change('closed', 2)
    fail('ECONNRESET')
    for (let i = 0; i < 1_000; i++) observe({ type: 'store-answered', ms: 1 })
    fail('ECONNRESET')
    const told = (await read()).map((line) => JSON.parse(line))
    expect(told.map(({ msg, reason }) => [msg, reason])).toEqual([
      ['the store did not answer a question', 'ECONNRESET'],
      ['the store fails', 'ECONNRESET'],
      ['the store works again', undefined],
      ['the store did not answer a question', 'ECONNRESET'],
      ['the store did not answer a question', 'ECONNRESET'],
    ])
  })
})
