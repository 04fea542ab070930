import { readdirSync, readFileSync } from 'node:fs'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { describe, expect, it } from 'vitest'
import { runVectors } from './run-vectors.ts'
import { parseVectors } from './vectors.ts'

const folder = new URL('../vectors/', import.meta.url)
const policy = { algorithm: 'token-bucket', limit: 1, period_us: 1_500 }
const step = { at_us: 0, key: 'k', cost: 1, expect: { allowed: true, remaining: 0, more_after_us: 1_500 } }

function file(scenario: object): string {
  return JSON.stringify({ format: 'sluice-vectors/1', scenarios: [scenario] })
}

describe('the vectors', () => {
  it('all pass in memory', async () => {
    let passed = 0
    for (const name of readdirSync(folder)) {
      const vectors = parseVectors(readFileSync(new URL(name, folder), 'utf8'))
      const report = await runVectors(vectors, (clock) => new MemoryStore({ clock }))
      expect(report, name).toMatchObject({ failed: 0, differences: [] })
      passed += report.passed
    }
    expect(passed).toBe(10_899)
  })

  it('show what differs, ten at most', async () => {
    const wrong = { ...step, expect: { ...step.expect, remaining: 7, more_after_us: null } }
    const report = await runVectors(
      parseVectors(
        file({ policy, steps: Array.from({ length: 12 }, (_, i) => ({ ...wrong, key: `k${i}` })) }),
      ),
      (clock) => new MemoryStore({ clock }),
    )
    expect(report).toMatchObject({ passed: 0, failed: 12 })
    expect(report.differences).toHaveLength(10)
    expect(report.differences[0]).toEqual({
      scenario: 'scenarios[0]',
      step: 0,
      expected: { remaining: 7, more_after_us: null },
      actual: { remaining: 0, more_after_us: 1_500 },
    })
  })

  it.each([
    ['{', 'not JSON'],
    ['[]', 'the file must be an object'],
    [
      '{"format":"sluice-vectors/2","scenarios":[]}',
      'format must be sluice-vectors/1, not "sluice-vectors/2"',
    ],
    [file({ steps: [step] }), 'scenarios[0] must have a policy or policies, and not both'],
    [file({ policy, steps: [] }), 'scenarios[0].steps must be a list, and not empty'],
    [
      file({ policy: { ...policy, limit: -1 }, steps: [step] }),
      'scenarios[0].policy: limit must be a whole number',
    ],
    [file({ policy: { ...policy, algorithm: 'magic' }, steps: [step] }), 'algorithm must be token-bucket'],
    [file({ policy, steps: [{ ...step, cost: 0.5 }] }), 'scenarios[0].steps[0].cost must be a whole number'],
    [
      file({ policy, steps: [{ ...step, expect: { retry: 1 } }] }),
      'scenarios[0].steps[0].expect has no field "retry"',
    ],
    [file({ policy, steps: [{ ...step, expect: { allowed: 1 } }] }), 'expect.allowed must be true or false'],
    [
      file({ policy, steps: [{ ...step, expect: { remaining: null } }] }),
      'expect.remaining must be a whole number',
    ],
  ])('that cannot be read are refused with the place: %s', (text, message) => {
    expect(() => parseVectors(text)).toThrow(message)
  })
})
