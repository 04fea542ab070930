import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const rules = fileURLToPath(new URL('../../fixtures/rules/', import.meta.url))

describe('sluice check', () => {
  it('says what a sound rulebook holds', async () => {
    expect(await runLine(['check', `${rules}shop.yaml`, `${rules}messaging.yaml`])).toEqual({
      code: 0,
      out: 'shop: 3 limits\nmessaging: 1 descriptor\nok\n',
      err: '',
    })
  })

  it('names every mistake with its place, and exits 1', async () => {
    const { code, out, err } = await runLine(['check', `${rules}mistakes.yaml`])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    const lines = err.trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/mistakes\.yaml:5:5: .*limitt.*did you mean "limit"/)
    expect(lines[1]).toMatch(/mistakes\.yaml:7:11: .*usr/)
  })

  it('says the same as JSON', async () => {
    const sound = await runLine(['check', '--format', 'json', `${rules}shop.yaml`])
    expect({ ...sound, out: JSON.parse(sound.out) }).toEqual({
      code: 0,
      out: { ok: true, problems: [] },
      err: '',
    })
    const wrong = await runLine(['check', '--format=json', `${rules}mistakes.yaml`])
    expect(wrong).toMatchObject({ code: 1, err: '' })
    expect(JSON.parse(wrong.out)).toMatchObject({
      ok: false,
      problems: [
        { file: `${rules}mistakes.yaml`, line: 5, column: 5, message: expect.any(String), hint: 'limit' },
        { line: 7, column: 11 },
      ],
    })
  })
})
