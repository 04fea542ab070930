import { describe, expect, test } from 'vitest'
import { main } from '../main.ts'
import { fakeIo, runLine } from '../testing.ts'

const SHOP = new URL('../../fixtures/rules/shop.yaml', import.meta.url).pathname

describe('sluice mock', () => {
  test('plays a limited API until it is stopped, and prints what it counted', async () => {
    const { io, out, err, signal } = fakeIo('', {})
    const limits = ['--limit', 'requests=2/365d', '--limit', 'tokens=9/365d']
    const done = main(['mock', ...limits, '--dialect', 'openai', '--fault', 'html=1', '--status', '503'], io)
    await expect.poll(err).toMatch(/http:\S+/)
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(err())!
    const answers = []
    for (let i = 0; i < 3; i++) answers.push(await fetch(url))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503])
    expect(answers[0]!.headers.get('x-ratelimit-remaining-tokens')).toBe('8')
    expect(await answers[2]!.text()).toMatch('<h1>')
    signal('SIGINT')
    expect(await done).toBe(0)
    expect(JSON.parse(out())).toMatchObject({ received: 3, admitted: 2, refused: 1, faults: { html: 1 } })
    await expect(fetch(url)).rejects.toThrow()
  })

  test('plays by a rulebook', async () => {
    const { io, err, signal } = fakeIo('', {})
    const done = main(['mock', SHOP], io)
    await expect.poll(err).toMatch(/http:\S+/)
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(err())!
    const statuses = []
    for (let i = 0; i < 6; i++) statuses.push((await fetch(`${url}/login`, { method: 'POST' })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    signal('SIGTERM')
    expect(await done).toBe(0)
  })

  test.each([
    [['--limit', '10'], '--limit must be COUNT/PERIOD, such as 100/second, not "10"'],
    [['--limit', '10/moon'], 'moon'],
    [['--fault', 'html'], '--fault must be NAME=VALUE, such as html=0.5, not "html"'],
    [['--fault', 'htm=1'], 'no option is named "faults.htm"; did you mean html?'],
    [['--dialect', 'githib'], 'did you mean github?'],
    [['--burst', '3', '--algorithm', 'fixed-window'], 'burst'],
    [['--status', 'x'], 'status must be a whole number from 400 to 599'],
    [['--port', '99999'], 'port must be a whole number from 0 to 65535'],
    [['missing.yaml'], 'cannot read missing.yaml'],
    [[SHOP, '--limit', '1/s'], '--limit has no effect beside a rulebook'],
    [[SHOP, '--domain', 'shap'], 'did you mean "shop"?'],
  ])('%j is used wrongly', async (argv, message) => {
    const { code, err } = await runLine(['mock', ...argv])
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})
