import { loadText } from '@sluice/rulebook'
import { describe, expect, it } from 'vitest'
import { type Ran, runLine } from '../testing.ts'

/** Three keys: one asks each second, two seldom. */
const LOG = `t_ms,key,path\n${Array.from({ length: 60 }, (_, i) => `${i * 1_000},busy,/login\n${i % 20 === 0 ? `${i * 1_000},calm,/login\n${i * 1_000},rare,/\n` : ''}`).join('')}`

function suggest(...argv: string[]): Promise<Ran> {
  return runLine(['suggest', '--log', '-', '--key', 'user', '--deny-at-most', '50%', ...argv], LOG)
}

describe('sluice suggest', () => {
  it('shows the choices, and ends with the rule', async () => {
    const { code, out, err } = await suggest(
      '--when',
      'path=/login',
      '--period',
      '1m',
      '--algorithm',
      'fixed-window',
    )
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(
      '63 requests of 2 keys in 2 sessions; at most 50.00 % of requests may be refused: 31\nWithout a limit at most 2 pass in a second, and 1 of one key.',
    )
    expect(out).toMatch(/\nin a minute +3 +60 +60 +60\n/)
    expect(out).toMatch(/\ntoken-bucket, gcra, leaky-bucket\n\* 2\/1m +28 +31 +1 /)
    expect(out).toMatch(/\nfixed-window, [-\w, ]+\n\* +29\/1m +31 +1 +49\.21 % +50\.79 % +2 +1\n/)
    expect(out).toContain('\nNote: the choices were not replayed: the log can be read only once.\n')
    expect(out).toContain(
      'Refused by the rule below:\n  busy: 31 of 60, 60 in its busiest minute; a limit of 60 would serve it. Like a machine: evenly spaced',
    )
    const [domain] = loadText(out.slice(out.indexOf('# From')))
    expect(domain!.limits).toMatchObject([
      {
        name: 'by-user',
        when: { path: ['/login'] },
        key: ['user'],
        limit: { limit: 29 },
        algorithm: 'fixed-window',
      },
    ])
  })

  it('writes the rule alone, and JSON', async () => {
    const { out } = await suggest('--format', 'yaml')
    expect(loadText(out)[0]!.limits).toHaveLength(1)
    const { met, of } = { ...JSON.parse((await suggest('--format', 'json', '--of', 'keys')).out), of: 'keys' }
    expect([met.keys, of]).toEqual([3, 'keys'])
  })

  it('exits with 1 when no limit keeps the share', async () => {
    const { code, out } = await suggest('--next-hop', '1/s', '--deny-at-most', '0%')
    expect([code, out]).toEqual([2, ''])
    const none = await runLine(
      ['suggest', '--log', '-', '--key', 'user', '--deny-at-most', '0%', '--next-hop', '2/s'],
      LOG,
    )
    expect(none.code).toBe(1)
    expect(none.out).toContain('No rule.')
  })

  it.each([
    [['--deny-at-most', '1%'], 'say by what is counted, as --key ip'],
    [['--key', 'ip'], 'say what may be refused at most'],
    [['--key', 'ip', '--deny-at-most', 'few'], '--deny-at-most must be a share such as 0.1%'],
    [['--key', 'ip', '--deny-at-most', '1%', '--next-hop', '160'], '--next-hop must be a rate such as 160/s'],
    [
      ['--key', 'ip', '--deny-at-most', '1%', '--when', 'pth=/x'],
      'unknown fact "pth" (did you mean "path"?)',
    ],
    [['--key', 'ip', '--deny-at-most', '1%', '--period', 'soon'], '"soon" is not a duration'],
    [['--key', 'ip', '--deny-at-most', '1%', '--of', 'users'], 'unknown --of "users"'],
    [['--key', 'nonsense', '--deny-at-most', '1%'], 'sluice: "nonsense" is no part of a key'],
    [['--key', 'ip,ip', '--deny-at-most', '1%'], 'sluice: the key has a part twice'],
    [['--key', 'ip', '--deny-at-most', '1%', '--cost', 'many'], 'sluice: cost "many" is not a whole number'],
    [['--key', 'ip', '--deny-at-most', '1%', '--cost', '99999999999999999999'], 'is more than 2^53−1'],
    [['--key', 'ip', '--deny-at-most', '1%', '--cost', '0'], '--cost 0 uses nothing of a limit'],
    [
      ['--key', 'ip', '--deny-at-most', '1%', '--cost', '3', '--cost-column', 'tokens'],
      '--cost and --cost-column both say what a request costs',
    ],
  ])('used wrongly, as %j, exits 2', async (argv, message) => {
    const { code, out, err } = await runLine(['suggest', '--log', '-', ...argv], LOG)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })
})
