import { expect, test } from 'vitest'
import { programOf } from './program.ts'

/** The program's outcome: the failed assertion's message, or `passed`. */
async function outcomeOf(sample: string): Promise<string> {
  const body = programOf(sample, 'page.md:1').replace(/^import .*?; /, '')
  const run = new Function('expect', `return (async () => {\n${body}\n})()`) as (
    tool: typeof expect,
  ) => Promise<void>
  return run(expect).then(
    () => 'passed',
    (error: Error) => error.message.split('\n')[0]!,
  )
}

test.each([
  ['1 + 1 // → 2', 'passed'],
  ['1 + 1 // → 3', 'page.md:1 1 + 1 // → 3: expected [ 2 ] to deeply equal [ 3 ]'],
  ["console.log('a', [1]) // → 'a', [1]", 'passed'],
  ["console.log('a', [1]) // → 'a', [2]", expect.stringContaining('expected [ ')],
  ['const two = 2 // → 2\ntwo // → 2', 'passed'],
  ['const two = 2 // → 1', expect.stringContaining('expected 2 to deeply equal 1')],
  ['  null.x // → throws TypeError: Cannot read', 'passed'],
  ['  null.x // → throws TypeError: … of null', 'passed'],
  ['null.x // → throws RangeError: Cannot read', expect.stringContaining('to match /^RangeError')],
  ['1 // → throws TypeError: any', expect.stringContaining('undefined')],
  ['throw new Error("no assertion is needed to fail")', 'no assertion is needed to fail'],
  ['// → is only read behind code', 'passed'],
])('%s: %s', async (sample, outcome) => {
  expect(await outcomeOf(sample)).toEqual(outcome)
})
