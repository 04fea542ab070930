import { describe, expect, it } from 'vitest'
import { cookieValue, hostName, ownText } from './header.ts'

describe('reading a record', () => {
  it('FB-071: sees its own entries only', () => {
    expect(ownText({}, '__proto__')).toBeUndefined()
    expect(ownText({}, 'constructor')).toBeUndefined()
    expect(ownText(JSON.parse('{"__proto__":"a"}'), '__proto__')).toBe('a')
  })

  it('takes numbers, and nothing for one that is none', () => {
    expect(ownText({ a: 7 }, 'a')).toBe('7')
    expect(ownText({ a: Number.NaN }, 'a')).toBe('')
    expect(ownText({ a: { b: 1 } }, 'a')).toBeUndefined()
  })
})

describe('a cookie', () => {
  it('is the first of its name, however it is escaped', () => {
    expect(cookieValue('sidx=0; sid=s%3Aabc; sid=other', 'sid')).toBe('s:abc')
    expect(cookieValue('sid="s:abc"', 'sid')).toBe('s:abc')
    expect(cookieValue('sid=a=b', 'sid')).toBe('a=b')
    expect(cookieValue('sid=%E0%A4%A', 'sid')).toBe('%E0%A4%A')
  })

  it('is missing where no cookie has its name', () => {
    expect(cookieValue('SID=1; x; =2', 'sid')).toBeUndefined()
    expect(cookieValue(undefined, 'sid')).toBeUndefined()
  })
})

it('a host has no port, no trailing dot and no case', () => {
  expect(hostName('API.Example.com.:8443')).toBe('api.example.com')
  expect(hostName('[2001:DB8::1]:80')).toBe('[2001:db8::1]')
  expect(hostName('[::1]')).toBe('[::1]')
})
