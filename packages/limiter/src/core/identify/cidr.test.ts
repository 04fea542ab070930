import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cidrTrie, parseCidr, valuesAt } from './cidr.ts'
import { parseAddress } from './ip.ts'

function found(cidrs: readonly string[], address: string): string[] {
  const trie = cidrTrie(cidrs.map((text) => [parseCidr(text)!, text] as const))
  return valuesAt(trie, parseAddress(address)!)
}

describe('a set of networks', () => {
  const cidrs = [
    '10.0.0.0/8',
    '10.1.0.0/16',
    '10.1.2.3',
    '0.0.0.0/0',
    '2001:db8::/32',
    '::1',
    '::ffff:192.0.2.0/120',
  ]

  it('finds every network that holds an address, widest first', () => {
    expect(found(cidrs, '10.1.2.3')).toEqual(['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.3'])
    expect(found(cidrs, '10.200.0.1')).toEqual(['0.0.0.0/0', '10.0.0.0/8'])
    expect(found(cidrs, '2001:db8:1::1')).toEqual(['2001:db8::/32'])
    expect(found(cidrs, '::2')).toEqual([])
  })

  it('holds mapped and NAT64 addresses in the IPv4 networks', () => {
    expect(found(cidrs, '::ffff:10.1.9.9')).toEqual(['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16'])
    expect(found(cidrs, '64:ff9b::c000:201')).toEqual(['0.0.0.0/0', '::ffff:192.0.2.0/120'])
  })

  it('looks past bits beyond the prefix', () => {
    expect(found(['10.9.9.9/8'], '10.1.1.1')).toEqual(['10.9.9.9/8'])
  })

  it.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0.0/a',
    '10.0.0/8',
    '::/129',
    '10.0.0.1:80/8',
    '[::1]/128',
    'fe80::1%eth0/64',
    '::ffff:0:0/96',
    '64:ff9b::/96',
    '::ffff:1.2.3.4/24',
    'example.com',
    '10.0.0.0 /8',
  ])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeUndefined()
  })

  it('agrees with Node', () => {
    const v4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.ipV4(), fc.constant('ipv4' as const))
    const v6 = fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 }), fc.ipV6(), fc.constant('ipv6' as const))
    fc.assert(
      fc.property(
        fc.oneof(v4, v6),
        fc.integer({ min: 0, max: 128 }),
        ([network, bits, other, family], shared) => {
          fc.pre(
            [network, other].every((text) => parseAddress(text)!.version === (family === 'ipv4' ? 4 : 6)),
          )
          const list = new BlockList()
          list.addSubnet(network, bits, family)
          const address = shared % 2 === 0 ? other : network
          expect(found([`${network}/${bits}`], address).length > 0).toBe(list.check(address, family))
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
