import { describe, expect, it } from 'vitest'
import { authOptions } from './auth-options.ts'

describe('options for /auth', () => {
  const warnings: string[] = []
  const read = (values: Parameters<typeof authOptions>[0]) =>
    authOptions(values, (message) => void warnings.push(message))

  it('are what the service takes', () => {
    expect(read({})).toEqual({})
    expect(read({ trusted: ['127.0.0.1', '2001:db8::/32'], 'auth-deadline': '20ms' })).toEqual({
      trusted: ['127.0.0.1', '2001:db8::/32'],
      deadline: '20ms',
    })
    expect(warnings).toEqual([])
  })

  it('are refused by the name of the option', () => {
    expect(() => read({ trusted: ['10.0.0.0/8', 'nginx'] })).toThrow(
      '--trusted "nginx" is no address or CIDR',
    )
    expect(() => read({ 'auth-deadline': 'soon' })).toThrow('--auth-deadline "soon" is not a time')
  })

  it('warn of a deadline behind that of the store', () => {
    expect(read({ 'auth-deadline': '60ms' })).toEqual({ deadline: '60ms' })
    expect(warnings).toEqual([expect.stringContaining('--auth-deadline 60ms has no effect')])
  })
})
