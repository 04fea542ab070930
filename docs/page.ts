import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '..')

/** A Redis, as samples name it. */
export const REDIS = 'redis://127.0.0.1:6379'

/** One fenced block of a page. */
export interface Block {
  readonly language: string
  readonly text: string
  /** Line of its opening fence, from 1. */
  readonly line: number
}

export interface Page {
  /** From the project's root. */
  readonly path: string
  readonly blocks: readonly Block[]
  /** Its text without blocks and code. */
  readonly prose: string
  /** Its links within the project, as they are written. */
  readonly links: readonly string[]
  /** The files that they lead to, from the project's root. */
  readonly targets: readonly string[]
  /** Files that it names in running text. */
  readonly files: readonly string[]
  /** What `#…` may name, as GitHub spells headings. */
  readonly anchors: ReadonlySet<string>
}

/** The pages at the root, all below docs/, and the one of each package. */
export function pages(): Page[] {
  const top = readdirSync(ROOT).filter((file) => file.endsWith('.md'))
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => join('packages', name, 'README.md'))
  return [...top, ...docs, ...packages].sort().map(pageOf)
}

function pageOf(path: string): Page {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const prose = text.replace(/^```.*?^```$/gms, '')
  const links = all(prose, /\]\(([^)\s]+)\)/g).filter((link) => !/^https?:/.test(link))
  return {
    path,
    blocks: blocksOf(text),
    prose: prose.replace(/`[^`\n]*`/g, ''),
    links,
    targets: links.map((link) => targetOf(path, link)),
    files: all(prose, /`((?:packages|docs|examples|scripts|deploy)\/[\w./-]+)`/g).filter(
      (file) => !file.includes('NAME'),
    ),
    anchors: new Set(all(prose, /^#+ (.+)$/gm).map(anchorOf)),
  }
}

function all(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, found]) => found!)
}

/** The file that a link on the page leads to. */
export function targetOf(page: string, link: string): string {
  const [path = ''] = link.split('#')
  return path === '' ? page : join(dirname(page), path)
}

function blocksOf(text: string): Block[] {
  return Array.from(
    text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms),
    ({ 0: all, 1: language, 2: inner, index }) => ({
      language: language!.trim(),
      text: inner!,
      line: text.slice(0, index + all.indexOf('```')).split('\n').length,
    }),
  )
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** `page:line`, as an editor finds it. */
export function placeOf(page: Page, block: Block): string {
  return `${page.path}:${block.line}`
}

/** A file name for a sample that is to be run or compiled. */
export function fileOf(page: Page, block: Block): string {
  return `${page.path.replace(/\W+/g, '-')}-${block.line}.ts`
}

/** A sample whose first line names the file that the rest stands in. */
export function isExcerpt({ language, text }: Block): boolean {
  if (language === 'text') return /^(?:#|--) examples\/\S+\n/.test(text)
  if (language === 'yaml') return /^# (?:deploy|examples)\/\S+\n/.test(text)
  return language === 'ts' && /^\/\/ \S+\.[jt]s\n/.test(text)
}

/** A sample of the file that `sluice serve --config` reads. */
export function isSettings({ language, text }: Block): boolean {
  return language === 'yaml' && text.startsWith('# sluice.yaml')
}

export function isRulebook(block: Block): boolean {
  return block.language === 'yaml' && !isExcerpt(block) && !isSettings(block)
}

/** A sample that stands by itself. */
export function isProgram(block: Block): boolean {
  return block.language === 'ts' && !isExcerpt(block)
}

/** A sample that needs a server: {@link REDIS} stands for its address. */
export function needsRedis(block: Block): boolean {
  return isProgram(block) && block.text.includes(REDIS)
}
