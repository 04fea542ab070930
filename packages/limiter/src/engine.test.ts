import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planOf } from './core/decide/algorithms.ts'
import { receiptOf } from './core/decide/decision.ts'
import { ruleOf } from './core/decide/rule.ts'
import type { Step } from './core/decide/step.ts'
import { createEngine } from './engine.ts'
import { MemoryStore } from './stores/memory.ts'

const plan = planOf({ algorithm: 'fixed-window', limit: 1_000, period: 'day' })
const rules = ['a', 'b'].flatMap((namespace) => [
  ruleOf('enforced', namespace, plan),
  ruleOf('shadow', namespace, plan, { mode: 'shadow' }),
])

it('charges each state of a request once, with the sum of its costs, be they few steps or many', () => {
  const step: fc.Arbitrary<Step> = fc.record({
    rule: fc.constantFrom(...rules),
    key: fc.constantFrom('x', 'y', 'x","y'),
    cost: fc.integer({ min: 1, max: 3 }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 40 }), (steps) => {
      const sums = new Map<string, number>()
      for (const { rule, key, cost } of steps) {
        const state = `${rules.indexOf(rule)} ${key}`
        sums.set(state, (sums.get(state) ?? 0) + cost)
      }
      const decision = createEngine(new MemoryStore()).decide('d', steps, false)
      const charged = receiptOf(decision)!.steps
      expect(charged.map(({ rule, key, cost }) => [`${rules.indexOf(rule)} ${key}`, cost])).toEqual([...sums])
    }),
  )
})
