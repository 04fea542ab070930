import type { CST, Document } from 'yaml'
import { type FileProblem, RulebookError } from '../problem.ts'
import { Lines } from './lines.ts'
import { plainTree } from './plain.ts'
import type { FileSource } from './source.ts'
import { MAX_TREE_DEPTH, TreeBuilder, type TreeNode } from './tree.ts'
import { yaml } from './yaml.ts'

/** UTF-8 bytes that a file may have: 4 MiB, some 50,000 rules. */
export const MAX_FILE_BYTES: number = 4 * 1_024 * 1_024
export const TOO_LARGE = 'is larger than 4 MiB'

/** Words, blanks, line ends and signs of a file: some ten for each value that it may have. */
const MAX_LEXEMES = 2_000_000
const MOST_HINTS = 100

/** A file's content, and what no rulebook may hold. */
export interface ParsedFile {
  readonly source: FileSource
  readonly problems: readonly FileProblem[]
}

/** @throws RulebookError when the text is not one YAML document of the bounded kind that rulebooks are. */
export function parse(text: string, file: string): ParsedFile {
  const lines = new Lines(text)
  const problems: FileProblem[] = []
  const report = (offset: number, message: string): void => {
    problems.push({ file, ...lines.placeOf(offset), message })
  }
  const refuse = (): void => {
    if (problems.length > 0) throw new RulebookError(problems)
  }

  if (Buffer.byteLength(text) > MAX_FILE_BYTES) report(0, TOO_LARGE)
  refuse()
  const root = plainTree(text) ?? anyTree(text, report, refuse)
  return { source: { file, root, lines, hints: { left: MOST_HINTS }, quotas: new Set() }, problems }
}

/**
 * The tree of any text, with aliases followed.
 * @param report of mistakes with which there is a tree all the same
 * @param refuse throws where there were any
 */
export function anyTree(text: string, report: ReportAt, refuse: () => void): TreeNode {
  const [document, second] = compose(text, (offset, message) => {
    report(offset, message)
    refuse()
  })
  for (const { pos, message } of [...document!.errors, ...document!.warnings]) report(pos[0], message)
  if (second !== undefined) report(second.range[0], 'a second document begins here: a file is one document')
  if (document!.contents === null) report(0, 'the file is empty: a rulebook begins with its domain')
  refuse()
  const builder = new TreeBuilder(report)
  const root = builder.build(document!.contents)
  if (builder.outOfBounds) refuse()
  return root
}

function compose(text: string, stop: ReportAt): Document.Parsed[] {
  const { Composer } = yaml()
  // `core` holds even under `%YAML 1.1`; the tree builder finds duplicate keys itself, in linear time.
  const composer = new Composer({ schema: 'core', resolveKnownTags: false, uniqueKeys: false })
  return [...composer.compose(tokensOf(text, stop), true, text.length)]
}

type ReportAt = (offset: number, message: string) => void

/**
 * Counts while the tokens come. Composing recurses: deep enough, a text would end the process. A file of line ends
 * alone would take as long as a hundred files.
 */
function* tokensOf(text: string, stop: ReportAt): Generator<CST.Token> {
  const { Lexer, Parser } = yaml()
  const parser = new Parser()
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > MAX_TREE_DEPTH)
      stop(parser.offset, `nested more than ${MAX_TREE_DEPTH} levels deep`)
    if (++lexemes > MAX_LEXEMES)
      stop(parser.offset, `more than ${MAX_LEXEMES} words, blanks, line ends and signs`)
  }
  yield* parser.end()
}
