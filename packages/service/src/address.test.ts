import { ConfigError } from '@sluice/limiter'
import { expect, test } from 'vitest'
import { addressOf } from './address.ts'

test.each([
  ['127.0.0.1:8080', '127.0.0.1', 8_080],
  ['localhost:0', 'localhost', 0],
  ['[::1]:65535', '::1', 65_535],
  [':8080', '::', 8_080],
])('%s is an address', (text, host, port) => {
  expect(addressOf(text)).toEqual({ host, port })
})

test.each([
  '',
  '8080',
  'localhost',
  'localhost:',
  'localhost:65536',
  '::1:8080',
  'http://localhost:8080',
  'a b:1',
  'a:-1',
])('%j is none', (text) => {
  expect(() => addressOf(text)).toThrow(ConfigError)
})
