import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { networksOfKey, neverBanned, offenderOf } from './offender.ts'

const NEVER = networksOfKey(neverBanned(['198.51.100.0/24', '2001:db8:a::1']))
const read = (line: string | undefined) => offenderOf(line, NEVER, 86_400_000)

describe('an offender', () => {
  test.each([
    ['{"ip":"192.0.2.1","for":"15m"}', { address: '192.0.2.1', version: 4, seconds: 900 }],
    ['{"ip":"::ffff:192.0.2.1","for":1500,"why":"login"}', { address: '192.0.2.1', version: 4, seconds: 2 }],
    ['{"ip":"2001:db8:1:2:3::4","for":"1h"}', { address: '2001:db8:1:2::', version: 6, seconds: 3_600 }],
    ['{"ip":"192.0.2.1","for":"30d"}', { address: '192.0.2.1', version: 4, seconds: 86_400 }],
  ])('%s', (line, offender) => {
    expect(read(line)).toEqual(offender)
  })

  test.each([
    [undefined, 'a line is too long'],
    ['GET /', 'a line is not JSON'],
    ['null', 'a line has no "ip" that is an address'],
    ['{"ip":"192.0.2.1; flush ruleset","for":1}', 'a line has no "ip" that is an address'],
    ['{"ip":["192.0.2.1"],"for":1}', 'a line has no "ip" that is an address'],
    ['{"ip":"192.0.2.1"}', /no "for" that is a duration/],
    ['{"ip":"192.0.2.1","for":"soon"}', /no "for" that is a duration/],
    ['{"ip":"192.0.2.1","for":-1}', /no "for" that is a duration/],
    ['{"ip":"192.0.2.1","for":"1s timeout 9d"}', /no "for" that is a duration/],
  ])('%s is none', (line, why) => {
    expect(read(line)).toEqual(typeof why === 'string' ? why : expect.stringMatching(why))
  })

  test.each([
    '127.0.0.1',
    '127.8.9.1',
    '::1',
    '::',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '169.254.1.1',
    'fe80::1%eth0',
    'ff02::1',
    '::ffff:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '[::1]:80',
    '198.51.100.7',
    '2001:db8:a::1',
    ...Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  ])('%s is never banned', (ip) => {
    expect(read(JSON.stringify({ ip, for: '1h' }))).toEqual(expect.stringMatching(/, which is never banned$/))
  })
})
