import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planOf } from '../core/decide/algorithms.ts'
import { FakeClock, stepFor } from '../testing.ts'
import { MemoryStore } from './memory.ts'
import { MapStore } from './trials/map-store.test-support.ts'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
const VARIANTS = variantsOf()

const operation = fc.record({
  verb: fc.constantFrom(
    'decide',
    'decide',
    'decide',
    'decide',
    'several',
    'plain',
    'plain',
    'keys',
    'keys',
    'peek',
    'settle',
    'block',
    'reset',
  ),
  key: fc.constantFrom('a', 'b', 'b', 'c'),
  others: fc.array(fc.nat(60), { minLength: 1, maxLength: 9 }),
  rule: fc.nat(3),
  cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 9 })),
  change: fc.integer({ min: -9, max: 9 }),
  forward: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -900_000, max: 3_000_000 })),
})

describe(`the store in memory answers as the run does (SLUICE_SEED=${SEED})`, () => {
  it.each(VARIANTS.map(({ name, policy }) => [name, policy] as const))('%s', (_, policy) => {
    const property = fc.property(
      fc.integer({ min: 0, max: 8 }),
      fc.array(operation, { minLength: 20, maxLength: 80 }),
      (limit, operations) => {
        const clock = new FakeClock()
        const memory = new MemoryStore({ clock })
        const map = new MapStore(clock)
        const plan = planOf({ ...policy, limit, period: '2s' })
        const other = planOf({ algorithm: 'fixed-window', limit: 5, period: '3s' })
        const block = { after: 2, within: '1s', for: '4s' }
        const rules = [
          stepFor(plan),
          stepFor(plan, { namespace: 'quota', quota: true, block }),
          stepFor(plan, { namespace: 'shadow', mode: 'shadow' }),
          stepFor(other, { namespace: 'other', blockable: true }),
        ]
        // Enforced and without a block: decided without the run.
        const plain = [
          stepFor(plan),
          stepFor({ ...plan, limit: Math.ceil(limit / 2) }, { namespace: 'second' }),
          stepFor(other, { namespace: 'third', mode: 'shadow' }),
        ]
        let chargeId = 0
        for (const { verb, key, others, rule, cost, change, forward } of operations) {
          clock.advance(forward / 1_000)
          chargeId++
          const step = { ...rules[rule]!, key, cost, chargeId: 1 + (chargeId % 3) }
          const several = { several: rules, plain, keys: plain.slice(0, 1) }[verb as string] ?? [step]
          // Of one rule, many keys, which make its table grow in the middle of a request.
          const keys = verb === 'keys' ? [...new Set(others)].map((other) => `k${other}`) : [key]
          const steps = several.flatMap(({ rule }) =>
            keys.map((key) => {
              const isSpread = key === 'b' && rule.plan.algorithm.traits.aligned === true
              return { ...step, rule, key, ...(isSpread && { phase: 700_000 }) }
            }),
          )
          if (verb === 'settle') {
            const charges = [{ step: steps[0]!, at: clock.now() - 500_000, change }]
            expect(memory.settle(charges)).toEqual(map.settle(charges))
          } else if (verb === 'block') {
            if (step.rule.block === undefined) continue
            for (const store of [memory, map]) store.block(step, Math.max(0, change) * 1_000_000)
          } else if (verb === 'reset') for (const store of [memory, map]) store.reset(step)
          else expect(memory.decide(steps, verb === 'peek')).toEqual(map.decide(steps, verb === 'peek'))
        }
      },
    )
    fc.assert(property, { numRuns: 150, seed: SEED })
  })
})
