import type { Position } from '@sluice/limiter/errors'
import type { Exported, ExportNote } from './target.ts'

/** Notes for the reader of a file, as comments behind `#`, and the rules below them. */
export function withNotes(
  intro: readonly string[],
  body: readonly string[],
  notes: readonly ExportNote[],
): Exported {
  const lines = [
    ...intro,
    ...notes.map(({ rule, exported, message }) =>
      exported ? `${shown(rule)} differs: ${message}` : `${shown(rule)} is not here: ${message}`,
    ),
  ].map(comment)
  return { text: `${[...lines, '', ...body].join('\n')}\n`, notes }
}

/** One line that no program reads: without line ends, and without a backslash at its end that would join the next. */
export function comment(text: string): string {
  return `# ${escaped(text).replace(/\\+$/, '')}`
}

/** A rule's name in running text. */
export function shown(name: string): string {
  return JSON.stringify(name)
}

/** Printable ASCII alone. */
function escaped(text: string): string {
  return text.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A limit of either kind. */
interface NamedRule {
  readonly name: string
  readonly source?: Position
}

/** Adds notes on one limit. */
export function noteFor(
  { name, source }: NamedRule,
  notes: ExportNote[],
): (exported: boolean, message: string) => void {
  return (exported, message) =>
    void notes.push({ rule: name, exported, message, ...(source !== undefined && { source }) })
}
