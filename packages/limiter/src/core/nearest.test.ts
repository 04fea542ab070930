import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const FIELDS = ['name', 'mode', 'limit', 'rate_limit', 'requests_per_unit', 'ip', 'by']

it.each([
  ['ratelimit', 'rate_limit'],
  ['requestsPerUnit', 'requests_per_unit'],
  ['REQUESTS-PER-UNIT', 'requests_per_unit'],
  ['limits', 'limit'],
  ['nmae', 'name'],
  ['pi', 'ip'],
])('%s is near %s', (typed, meant) => {
  expect(nearest(typed, FIELDS)).toBe(meant)
})

it.each(['', 'x', 'zz', 'descriptors', 'x'.repeat(1_000_000)])('nothing is near %.20s', (typed) => {
  expect(nearest(typed, FIELDS)).toBeUndefined()
})
