import { ipKey, parseAddress } from '@sluice/limiter/address'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pseudonyms } from './pseudonyms.ts'

const pseudonyms = new Pseudonyms('a secret of the test, long enough')

/** How many leading bits two addresses share. */
function shared(a: string, b: string): number {
  const bits = (text: string): string =>
    parseAddress(text)!
      .words.map((word) => word.toString(2).padStart(32, '0'))
      .join('')
  const [one, other] = [bits(a), bits(b)]
  let count = 0
  while (count < one.length && one[count] === other[count]) count++
  return count
}

describe('pseudonyms', () => {
  it('are the same for the same text and secret, and differ otherwise', () => {
    expect(pseudonyms.text('ada')).toMatch(/^~[\da-f]{32}$/)
    expect(new Pseudonyms('a secret of the test, long enough').text('ada')).toBe(pseudonyms.text('ada'))
    expect(new Pseudonyms('another secret').text('ada')).not.toBe(pseudonyms.text('ada'))
    expect(new Pseudonyms().text('ada')).not.toBe(new Pseudonyms().text('ada'))
    expect(pseudonyms.text('bob')).not.toBe(pseudonyms.text('ada'))
  })

  it.each([fc.ipV4(), fc.ipV6()])('of addresses keep what networks they share', (address) => {
    fc.assert(
      fc.property(address, address, (a, b) => {
        const versions = [a, b].map((text) => parseAddress(text)!.version)
        fc.pre(versions[0] === versions[1])
        const [one, other] = [pseudonyms.address(a), pseudonyms.address(b)]
        expect(shared(one, other)).toBe(shared(a, b))
        expect(parseAddress(one)!.version).toBe(versions[0])
        expect(ipKey(one, 32, 128)).toBe(one)
      }),
    )
    const [a, b] = ['203.0.113.7', '203.0.113.200'].map((text) => pseudonyms.address(text))
    expect(shared(a!, b!)).toBe(24)
    expect(a).not.toBe('203.0.113.7')
  })

  it('of what is no address are those of a text', () => {
    expect(pseudonyms.address('client.example')).toBe(pseudonyms.text('client.example'))
  })

  it('stay the same when more are asked for than are remembered', () => {
    const before = pseudonyms.text('0')
    for (let i = 0; i < 10_001; i++) pseudonyms.text(String(i))
    expect(pseudonyms.text('0')).toBe(before)
  })
})
