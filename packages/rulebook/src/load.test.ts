import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileProblem, loadRulebook, RulebookError } from './index.ts'

let folder: string
const at = (path: string): string => join(folder, path)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function put(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true })
  await writeFile(at(path), text)
}
const limit = (domain: string, name: string): string =>
  `domain: ${domain}\nlimits: [{ name: ${name}, key: [ip], limit: 5/minute }]\n`
const descriptor = (domain: string, key: string): string =>
  `domain: ${domain}\ndescriptors: [{ key: ${key} }]\n`
const namesIn = async (...paths: string[]): Promise<string[]> =>
  (await loadRulebook(paths)).flatMap(({ name, limits }) => limits.map((rule) => `${name}/${rule.name}`))
async function problemsOf(...paths: string[]): Promise<readonly FileProblem[]> {
  try {
    await loadRulebook(paths)
    return []
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    return error.problems
  }
}

describe('a folder of rules', () => {
  it('is every rule file below it, in the order of names', async () => {
    await put('b.yml', limit('d', 'three'))
    await put('a/z.yaml', limit('d', 'one'))
    await put('a/z/y.yaml', limit('d', 'two'))
    await put('notes.txt', 'not rules')
    await put('.hidden.yaml', 'not: rules')
    expect(await namesIn(folder)).toEqual(['d/two', 'd/one', 'd/three'])
  })

  it('may be a mounted ConfigMap, whose files are links into a hidden version', async () => {
    await put('..2026_01/rules.yaml', limit('d', 'old'))
    await symlink('..2026_01', at('..data'))
    await symlink('..data/rules.yaml', at('rules.yaml'))
    expect(await namesIn(folder)).toEqual(['d/old'])
    await put('..2026_02/rules.yaml', limit('d', 'new'))
    await symlink('..2026_02', at('..data_tmp'))
    await rename(at('..data_tmp'), at('..data'))
    expect(await namesIn(folder)).toEqual(['d/new'])
  })

  it('follows links to folders, and none of them twice', async () => {
    await put('real/a.yaml', limit('d', 'a'))
    await symlink('real', at('again'))
    await symlink('..', at('real/up'))
    expect(await namesIn(folder, at('real'), at('real/a.yaml'))).toEqual(['d/a'])
  })

  it('holds a rule file at least', async () => {
    await put('notes.txt', '')
    expect(await problemsOf(folder)).toEqual([
      { file: folder, line: 1, column: 1, message: 'holds no *.yaml or *.yml file' },
    ])
  })
})

describe('files', () => {
  it('may share a domain’s limits, whose names stay apart', async () => {
    await put('a.yaml', limit('d', 'a'))
    await put('b.yaml', limit('d', 'b'))
    await put('c.yaml', limit('e', 'a'))
    expect(await namesIn(folder)).toEqual(['d/a', 'd/b', 'e/a'])
    await put('d.yaml', limit('d', 'a'))
    expect(await problemsOf(folder)).toEqual([
      {
        file: at('d.yaml'),
        line: 2,
        column: 18,
        message: `a limit is named "a" already, at ${at('a.yaml')}:2:10`,
      },
    ])
  })

  it('OF-67 may share a domain’s descriptors as they may its limits', async () => {
    await put('a.yaml', descriptor('d', 'key1'))
    await put('b.yaml', descriptor('d', 'key2'))
    await put('c.yaml', limit('d', 'beside'))
    const [domain] = await loadRulebook([folder])
    expect(domain).toMatchObject({
      name: 'd',
      limits: [{ name: 'beside' }],
      descriptors: [{ key: 'key1' }, { key: 'key2' }],
    })
  })

  it('share no descriptor', async () => {
    await put('a.yaml', descriptor('d', 'key1'))
    await put('b.yaml', descriptor('d', 'key1'))
    expect(await problemsOf(folder)).toMatchObject([
      { file: at('b.yaml'), message: `descriptor "d.key1" is defined already, at ${at('a.yaml')}:2:15` },
    ])
  })

  it('are told with all their mistakes at once', async () => {
    await put('a.yaml', 'domain: d\nlimits: [{}]\n')
    await put('b.yaml', 'domain: [')
    await put('c.yaml', Uint8Array.of(0x61, 0xff))
    const problems = await problemsOf(folder, at('none.yaml'), '/dev/null')
    expect(new Set(problems.map(({ file }) => file))).toEqual(
      new Set([at('none.yaml'), '/dev/null', at('a.yaml'), at('b.yaml'), at('c.yaml')]),
    )
    expect(problems).toContainEqual(
      expect.objectContaining({ file: at('none.yaml'), message: 'there is no such file or folder' }),
    )
    expect(problems).toContainEqual(
      expect.objectContaining({ file: '/dev/null', message: 'is neither a file nor a folder' }),
    )
    expect(problems).toContainEqual(
      expect.objectContaining({ file: at('c.yaml'), message: 'is not UTF-8 text' }),
    )
  })

  it('may be named as one likes, where they are named', async () => {
    await put('rules.txt', limit('d', 'a'))
    expect(await namesIn(at('rules.txt'))).toEqual(['d/a'])
  })

  it('are not read where they are larger than 4 MiB', async () => {
    await put('a.yaml', `domain: d # ${'x'.repeat(4 * 1_024 * 1_024)}`)
    expect(await problemsOf(folder)).toMatchObject([{ file: at('a.yaml'), message: 'is larger than 4 MiB' }])
  })
})
