import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const worked = fileURLToPath(new URL('../../../conformance/vectors/worked.json', import.meta.url))

function vectors(remaining: number, keys: number): string {
  const policy = { algorithm: 'token-bucket', limit: 1, period_us: 1_500 }
  const steps = Array.from({ length: keys }, (_, i) => ({
    at_us: 0,
    key: `k${i}`,
    cost: 1,
    expect: { allowed: true, remaining, more_after_us: 1_500 },
  }))
  return JSON.stringify({ format: 'sluice-vectors/1', scenarios: [{ name: 'one', policy, steps }] })
}

describe('sluice conform', () => {
  it('counts the steps that are as the files say', async () => {
    const { code, out, err } = await runLine(['conform', worked])
    expect(out).toMatch(/^[1-9]\d* passed, 0 failed\n$/)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(await runLine(['conform', '-'], vectors(0, 3))).toEqual({
      code: 0,
      out: '3 passed, 0 failed\n',
      err: '',
    })
  })

  it('shows the first ten that are not, and exits 1', async () => {
    const { code, out } = await runLine(['conform', '-'], vectors(7, 12))
    expect(code).toBe(1)
    const lines = out.split('\n')
    expect(lines.filter((line) => line.startsWith('-: one, step '))).toHaveLength(10)
    expect(lines.slice(0, 3)).toEqual([
      '-: one, step 0',
      '  expected {"remaining":7}',
      '  actual   {"remaining":0}',
    ])
    expect(out).toMatch(/\n0 passed, 12 failed\n$/)
  })

  it.each([
    ['{', /-: not JSON/],
    [
      '{"format":"sluice-vectors/2","scenarios":[]}',
      /-: format must be sluice-vectors\/1, not "sluice-vectors\/2"/,
    ],
    [vectors(0.5, 1), /scenarios\[0\]\.steps\[0\]\.expect\.remaining must be a whole number/],
  ])('exits 2 for what it cannot read, such as %s', async (text, message) => {
    const { code, out, err } = await runLine(['conform', '-'], text)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('exits 2 for a store that it does not know', async () => {
    const { code, err } = await runLine(['conform', '--store', 'memry', worked])
    expect(code).toBe(2)
    expect(err).toMatch(/no such store: write memory/)
  })
})
