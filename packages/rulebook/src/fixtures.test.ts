import { readdirSync, readFileSync } from 'node:fs'
import { compile } from '@sluice/limiter/rules'
import { describe, expect, it } from 'vitest'
import { formatProblem, loadText, RulebookError } from './index.ts'

const folder = (name: string): string => new URL(`../fixtures/${name}`, import.meta.url).pathname
const problemsIn = (file: string): string[] => {
  try {
    loadText(readFileSync(`${folder('mistakes')}/${file}`, 'utf8'), file)
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems.map(formatProblem)
  }
}

const MISTAKES: Readonly<Record<string, string>> = {
  'descriptor-twice.yaml':
    '6:10: descriptor "test-domain.key1_value1" is defined already, at descriptor-twice.yaml:3:5',
  'domain-empty.yaml': '1:9: "domain" must not be empty',
  'domain-missing.yaml': '1:1: "domain" is missing',
  'field-misplaced.yaml':
    '4:5: unknown field "unit"; fields here are key, value, rate_limit, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, descriptors',
  'field-misspelt-deeper.yaml': '7:7: unknown field "requestsperunit" (did you mean "requests_per_unit"?)',
  'field-misspelt.yaml': '5:5: unknown field "ratelimit" (did you mean "rate_limit"?)',
  'field-not-text.yaml': '1:1: a key must be text, not 0.25: put it in quotes',
  'key-empty.yaml': '3:5: "key" is empty',
  'key-missing.yaml': '3:5: "key" is missing',
  'leaf-of-other-type.yaml': '4:49: "requests_per_unit" must be a whole number in plain digits, not 2.5',
  'list-of-words.yaml': '3:5: item 1 of "descriptors" must be a map, not "a"',
  'metadata-not-json.yaml': '4:25: metadata must be JSON, which has no such number',
  'pattern-never-reached.yaml':
    '7:12: "file_test*.txt" is never reached: "file_test*" matches all that it does',
  'replaces-empty.yaml': '12:15: "name" is empty',
  'replaces-itself.yaml': '12:21: "self" replaces itself',
  'replaces-nothing.yaml': '6:74: no limit of this domain is named "frist" (did you mean "first"?)',
  'share-without-pattern.yaml': '5:22: share_threshold needs a value with *, and "k_v" has none',
  'unit-missing.yaml': '4:5: "unit" is missing',
  'unit-unknown.yaml':
    '6:13: "minut" is not a unit; units are second, minute, hour, day, week, month, year (did you mean "minute"?)',
  'unlimited-with-unit.yaml': '6:7: "unit" has no effect beside unlimited',
}

describe('a file with one mistake', () => {
  it.each(Object.entries(MISTAKES))('%s is told where it is', (file, problem) => {
    expect(problemsIn(file)).toEqual([`${file}:${problem}`])
  })

  it('has its own fixture for every kind', () => {
    expect(readdirSync(folder('mistakes'))).toEqual(Object.keys(MISTAKES).sort())
  })
})

describe('a right file', () => {
  it.each(readdirSync(folder('valid')))('%s loads, and the limiter takes its rules', (file) => {
    const domains = loadText(readFileSync(`${folder('valid')}/${file}`, 'utf8'), file)
    expect([...compile(domains).domains.keys()]).toEqual(domains.map(({ name }) => name))
  })
})
