import { describe, expect, it } from 'vitest'
import { readAll } from '../reading.test-support.ts'
import { recordedAnswer } from './record.ts'

const answer = { allowed: true, policy: 'login', remaining: 4, waitMs: 0 }
const line = (fields: object): string =>
  JSON.stringify({ time: '2026-01-01T00:00:01.500250Z', api: 'http', domain: 'shop', ...fields })
const LOGIN = line({
  asked: { request: { path: '/login', ip: '192.0.2.1', attributes: { user: 'a"asked":{b' } }, cost: 2 },
  ...answer,
})

describe('lines of a record', () => {
  it('are seen among other formats, and read with their time to the microsecond', async () => {
    const { entries, unreadable } = await readAll(`${LOGIN}\n${LOGIN}\n`)
    const request = { path: '/login', ip: '192.0.2.1', attributes: { user: 'a"asked":{b' } }
    const entry = { at: 1_767_225_601_500_250, request, cost: 2 }
    expect({ entries, unreadable }).toEqual({ entries: [entry, entry], unreadable: [] })
  })

  it('of another domain, that only looked, or are empty behind one that was cut short are passed over', async () => {
    const text = [
      LOGIN,
      line({ domain: 'other', asked: { request: {} }, ...answer }),
      line({ asked: { request: {} }, peek: true, ...answer }),
      LOGIN.slice(0, 90),
      '',
      LOGIN,
    ].join('\n')
    const { entries, unreadable } = await readAll(text, { domain: 'shop' })
    expect(entries).toHaveLength(2)
    expect(unreadable).toEqual([{ line: 4, reason: 'its JSON is cut short or broken' }])
  })

  it.each([
    ['no JSON', 'its JSON is cut short or broken'],
    [line(answer), 'its JSON is cut short or broken'],
    [line({ asked: { request: [] }, ...answer }), 'what it says was asked is no question'],
    [line({ asked: { descriptors: [{}] }, ...answer }), 'what it says was asked is no question'],
    [line({ asked: { descriptors: {} }, ...answer }), 'what it says was asked is no question'],
    [line({ time: 'today', asked: {}, ...answer }), expect.stringContaining('its time is none')],
    [line({ time: 1, asked: {}, ...answer }), 'its JSON is cut short or broken'],
    [`${LOGIN}}`, 'its JSON is cut short or broken'],
  ])('that are none are counted: %s', async (text, reason) => {
    const { entries, unreadable } = await readAll(`${text}\n`, { format: 'record' })
    expect({ entries, unreadable }).toEqual({ entries: [], unreadable: [{ line: 1, reason }] })
  })

  it('say what was answered', () => {
    expect(recordedAnswer(LOGIN)).toMatchObject({ domain: 'shop', ...answer })
    expect(recordedAnswer('{"time":"2026-01-01T00:00:00Z"}')).toBeUndefined()
  })
})
