import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeyTable, keyHash } from './key-table.ts'

test('finds what a Map finds, whatever the hashes', () => {
  const step = fc.tuple(fc.nat(3), fc.nat(40))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.nat(15), (steps, spread) => {
      const table = new KeyTable(4)
      const model: string[] = []
      const hashOf = (key: string): number => keyHash(key) & spread // few: they collide
      for (const [number, n] of steps) {
        const key = `k${n}`
        const at = Math.min(number, model.length)
        if (!model.includes(key) && at < 4) {
          table.put(at, key, hashOf(key))
          model[at] = key
        }
        expect(table.find(key, hashOf(key))).toBe(model.indexOf(key))
        for (const other of model) expect(table.find(other, hashOf(other))).toBe(model.indexOf(other))
      }
      table.clear()
      for (const key of model) expect(table.find(key, hashOf(key))).toBe(-1)
    }),
  )
})

test('hashes of keys that differ differ, but for the middle of long ones', () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => `192.0.2.${i}`)
  expect(new Set(keys.map(keyHash)).size).toBeGreaterThan(9_990)
  const long = (middle: string) => `${'a'.repeat(40)}${middle}${'b'.repeat(40)}`
  expect(keyHash(long('x'))).toBe(keyHash(long('y')))
  const table = new KeyTable(2)
  table.put(0, long('x'), keyHash(long('x')))
  table.put(1, long('y'), keyHash(long('y')))
  expect([table.find(long('x'), keyHash(long('x'))), table.find(long('y'), keyHash(long('y')))]).toEqual([
    0, 1,
  ])
})
