import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ipKey, networkText, parseAddress } from './ip.ts'

function whole(text: string): string | undefined {
  const address = parseAddress(text)
  return address && networkText(address, address.words.length * 32)
}

describe('an address as a key', () => {
  it('is IPv4 as it is, and IPv6 by its /64', () => {
    expect(ipKey('203.0.113.7')).toBe('203.0.113.7')
    expect(ipKey('2001:DB8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(ipKey('::1')).toBe('::/64')
  })

  it('takes other prefixes', () => {
    expect(ipKey('203.0.113.7', 24)).toBe('203.0.113.0/24')
    expect(ipKey('203.0.113.7', 1)).toBe('128.0.0.0/1')
    expect(ipKey('2001:db8:1234:5678::9', 32, 56)).toBe('2001:db8:1234:5600::/56')
    expect(ipKey('2001:db8::9', 32, 128)).toBe('2001:db8::9')
    expect(ipKey('2001:db8:ffff::9', 32, 33)).toBe('2001:db8:8000::/33')
  })

  it('FB-058: is decided by its bits, not by how it is written', () => {
    for (const text of ['::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:0102:0304', '0:0:0:0:0:ffff:1.2.3.4']) {
      expect(ipKey(text, 32, 56)).toBe('1.2.3.4')
    }
    expect(ipKey('2001:db8:1234:5678::1.2.3.4', 32, 56)).toBe('2001:db8:1234:5600::/56')
    expect(ipKey('64:ff9b::1.2.3.4', 32, 56)).toBe('1.2.3.4')
    expect(ipKey('64:ff9b::102:304', 32, 56)).toBe('1.2.3.4')
    expect(ipKey('::1.2.3.4', 32, 128)).toBe(ipKey('::102:304', 32, 128))
  })

  it('FB-059: is one for all the addresses of a /64', () => {
    const keys = new Set(Array.from({ length: 10_000 }, (_, i) => ipKey(`2001:db8:0:7:${i.toString(16)}::1`)))
    expect([...keys]).toEqual(['2001:db8:0:7::/64'])
  })

  it('T61: drops ports, brackets and zones', () => {
    expect(ipKey('1.2.3.4:5678')).toBe('1.2.3.4')
    expect(ipKey('[2001:db8::1]:443')).toBe('2001:db8::/64')
    expect(ipKey('[2001:db8::1]')).toBe('2001:db8::/64')
    expect(ipKey('[::ffff:1.2.3.4]:443')).toBe('1.2.3.4')
    expect(ipKey('fe80::1%eth0.100')).toBe('fe80::/64')
    expect(ipKey(' 1.2.3.4 ')).toBe('1.2.3.4')
  })

  it.each([
    '',
    ' ',
    '.',
    ':',
    '::%',
    'unknown',
    '_hidden',
    'localhost',
    '1.2',
    '1.2.3',
    '1.2.3.4.5',
    '010.1.2.3',
    '1.2.3.04',
    '0x7f.0.0.1',
    '2130706433',
    '256.1.1.1',
    '1.2.3.-4',
    '1..2.3',
    '1.2.3.4:',
    '1.2.3.4:123456',
    '1.2.3.4%eth0',
    '1.2.3.4/8',
    '[1.2.3.4',
    '1::2::3',
    ':::',
    '12345::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '::ffff:010.1.2.3',
    '::1.2.3',
    '::ffff:1.2.3.4.5',
    '[::1]x',
    'g::',
    '1.2.3.4\n5',
    `::${'0'.repeat(200)}`,
    '1.2.3.４',
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  it('agrees with Node on every text that might be an address', () => {
    const group = fc.stringMatching(/^[0-9a-f]{0,5}$/)
    const texts = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.array(group, { minLength: 2, maxLength: 10 }).map((groups) => groups.join(':')),
      fc.stringMatching(/^[0-9a-f:.]{1,30}$/),
      fc.tuple(fc.array(group, { maxLength: 7 }), fc.ipV4()).map(([groups, v4]) => [...groups, v4].join(':')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseAddress(text) !== undefined).toBe(
          isIPv4(text) || isIPv6(text) || isIPv4(text.replace(/:\d{1,5}$/, '')),
        )
      }),
      { numRuns: 3_000 },
    )
  })

  it('writes IPv6 as the URL standard does', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = parseAddress(text)!
        fc.pre(address.version === 6)
        expect(`[${whole(text)}]`).toBe(new URL(`http://[${text}]`).hostname)
      }),
    )
  })

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        expect(whole(whole(text)!)).toBe(whole(text))
      }),
    )
  })
})
