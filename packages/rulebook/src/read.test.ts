import { appendFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseRulebook } from './load.ts'
import { readRulebook } from './read.ts'

const WHOLE = 'domain: d\nlimits:\n  - { name: a, key: [], limit: 1/s }\n'
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-read-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('a rulebook’s files', () => {
  it('OF-23: are read again when they were written to meanwhile', async () => {
    const path = join(folder, 'a.yaml')
    await writeFile(path, 'domain: d\n')
    const reading = readRulebook([path], { settleMs: 1_000 })
    await writeFile(path, WHOLE)
    const [domain] = parseRulebook(await reading)
    expect(domain!.limits.map(({ name }) => name)).toEqual(['a'])
  })

  it('OF-23: are read once nobody has written to them for a while, a file that went away and came back included', async () => {
    const [first, second] = [join(folder, 'a.yaml'), join(folder, 'b.yaml')]
    await writeFile(first, WHOLE)
    const reading = readRulebook([folder], { settleMs: 1_000 })
    await writeFile(second, WHOLE.replace('d\n', 'e\n'))
    expect(parseRulebook(await reading).map(({ name }) => name)).toEqual(['d', 'e'])
  })

  it('OF-23: are refused when they are written to all the time', async () => {
    const path = join(folder, 'a.yaml')
    await writeFile(path, WHOLE)
    // Between any two looks: each asks what time it is, unless all is as it was at the last.
    const now = vi.spyOn(Date, 'now').mockImplementation(() => {
      appendFileSync(path, '#')
      return 0
    })
    const { files, problems } = await readRulebook([path]).finally(() => now.mockRestore())
    expect(files).toEqual([])
    expect(problems).toMatchObject([{ file: path, message: expect.stringContaining('rename it') }])
  })
})
