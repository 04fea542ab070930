import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { afterAll, describe, expect, test } from 'vitest'
import type { Io } from '../packages/cli/src/io.ts'
import { settingsTable } from '../packages/cli/src/serve/flags.ts'
import { SERVE_OPTIONS } from '../packages/cli/src/serve/options.ts'
import { readSettings } from '../packages/cli/src/serve/settings.ts'
import {
  type Block,
  fileOf,
  isExcerpt,
  isProgram,
  isRulebook,
  isSettings,
  needsRedis,
  type Page,
  pages,
  placeOf,
  ROOT,
  targetOf,
} from './page.ts'
import { programOf } from './program.ts'
import { removeSamples, runSample } from './sample.ts'

/** What a block may contain. `text` is for output and pictures; the others are tested. */
const LANGUAGES = ['ts', 'yaml', 'json', 'sh', 'text']

/** Words that pages do not use: they are hard to read, or there is a term for them (docs/glossary.md). */
const UNCLEAR =
  /\b(?:told|whose|nobody|whoever|everybody|knock\w*|hears? of|means nothing|stands? in for|in place of|leases?|prepaid)\b/gi

afterAll(removeSamples)

describe.each(pages())('$path', (page) => {
  test('uses plain words', () => {
    expect(page.prose.match(UNCLEAR) ?? []).toEqual([])
  })

  test('says of every block what it holds', () => {
    const unknown = page.blocks.filter(({ language }) => !LANGUAGES.includes(language))
    expect(unknown.map((block) => placeOf(page, block))).toEqual([])
  })

  test('links to what is there', () => {
    expect(page.links.filter((link) => !leadsSomewhere(page, link))).toEqual([])
  })

  const placed = (chosen: (block: Block) => boolean): [string, Block][] =>
    page.blocks.filter(chosen).map((block) => [placeOf(page, block), block])
  const of = (language: string): [string, Block][] => placed((block) => block.language === language)

  test.each(placed((block) => isProgram(block) && !needsRedis(block)))(
    '%s does what it says',
    (place, block) => runSample(programOf(block.text, place), fileOf(page, block)),
  )

  test.each(placed(isExcerpt))('%s stands in the file it names', (_, block) => {
    expect(missingFrom(block)).toEqual([])
  })

  test.each(placed(isSettings))('%s is a settings file', async (_, block) => {
    await expect(settingsIn(block.text)).resolves.toBeDefined()
  })

  test.each(placed(isRulebook))('%s is a rulebook, or has the mistakes that it shows', (_, block) => {
    expect(mistakesIn(block.text)).toEqual(shownFor(page, block))
  })

  test.each(of('json'))('%s is JSON', (_, block) => {
    expect(() => JSON.parse(block.text)).not.toThrow()
  })

  test.each(of('sh'))('%s names commands that exist', (_, block) => {
    expect(unknownIn(block.text)).toEqual([])
  })
})

test('docs/cli.md has the settings of serve as they are (npm run settings)', () => {
  expect(readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')).toContain(`\n${settingsTable()}\n`)
})

test('what programs and packages link to is there, and can be opened from anywhere', () => {
  const texts = ['packages', 'deploy'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|md|service|yaml)$/.test(file) && !/(node_modules|dist|build)\//.test(file))
      .filter((file) => !/\.test\.ts$/.test(file))
      .map((file) => [file, readFileSync(join(ROOT, folder, file), 'utf8')] as const),
  )
  const links = texts.flatMap(([file, text]) =>
    [...text.matchAll(/blob\/main\/([\w./-]+(?:#[\w-]+)?)|pageUrl\('([^']+)'\)/g)].map(
      ([, path, page]) => [file, path ?? `docs/${page}`] as const,
    ),
  )
  expect(links.length).toBeGreaterThan(10)
  const root = { path: 'README.md' } as Page
  expect(links.filter(([, link]) => !leadsSomewhere(root, link))).toEqual([])
  const messages = texts
    .filter(([file]) => file.endsWith('.ts'))
    .filter(([, text]) => /see docs\//.test(text))
  expect(messages.map(([file]) => file).filter((file) => file !== 'limiter/src/algorithms.ts')).toEqual([])
})

function leadsSomewhere(page: Page, link: string): boolean {
  const [, anchor] = link.split('#')
  const target = targetOf(page.path, link)
  if (!existsSync(join(ROOT, target))) return false
  return anchor === undefined || pages().some((other) => other.path === target && other.anchors.has(anchor))
}

/** Lines of an excerpt that its source has not, in that order. `// …` stands for any. */
function missingFrom({ text }: Block): string[] {
  const [title = '', ...excerpt] = linesOf(text)
  const lines = linesOf(readFileSync(join(ROOT, title.replace(/^(?:\/\/|#|--) /, '')), 'utf8'))
  let from = 0
  return excerpt
    .filter((line) => line !== '' && !/^(?:\/\/|#|--) …$/.test(line))
    .filter((line) => {
      const at = lines.indexOf(line, from)
      if (at >= 0) from = at + 1
      return at < 0
    })
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trim())
}

async function settingsIn(text: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  try {
    const path = join(folder, 'sluice.yaml')
    const withoutFiles = text.replace(/^\w+-file: .*$/gm, '') // what they name is not here
    writeFileSync(path, withoutFiles)
    return await readSettings(SERVE_OPTIONS, [], { config: path } as object, { env: {} } as Io)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function mistakesIn(rulebook: string): string[] {
  try {
    compile(loadText(rulebook))
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

/** The mistakes that the page shows for a rulebook: the output right after it. */
function shownFor({ blocks }: Page, block: Block): string[] {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.text.startsWith('rulebook.yaml:') ? next.text.trimEnd().split('\n') : []
}

/** npm scripts and sluice commands that a shell sample names and that do not exist. */
function unknownIn(shell: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
  const commands = readdirSync(join(ROOT, 'packages/cli/src/commands'))
  const named = (pattern: RegExp): string[] => Array.from(shell.matchAll(pattern), ([, name]) => name!)
  return [
    ...named(/\bnpm (?:run (?:--silent )?)?(?!ci\b|install\b)([\w:]+)/g).filter(
      (name) => !Object.hasOwn(scripts, name),
    ),
    ...named(/\bsluice (\w+)/g).filter((name) => !commands.includes(`${name}.ts`)),
  ]
}
