import { describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

describe('sluice ban', () => {
  it.each([
    [[], /say with --admin from which addresses you reach this machine/],
    [['--admin', 'me'], /"me" is no address or CIDR/],
    [['--admin', '192.0.2.1', '--allow', '10.0.0.0/33'], /"10\.0\.0\.0\/33" is no address or CIDR/],
    [['--admin', '192.0.2.1', '--most', 'long'], /--most must be a duration from 1s/],
    [['--admin', '192.0.2.1', '--size', '0'], /--size must be a whole number from 1/],
    [['--admin', '192.0.2.1', 'x'], /ban takes no "x"/],
  ])('used wrongly, as %j, changes nothing, says how and exits 2', async (argv, message) => {
    const { code, out, err } = await runLine(['ban', ...argv], '', { PATH: '/nowhere' })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })
})
