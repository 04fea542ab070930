import type { SimulationReport } from '@sluice/lab'
import { type Child, element } from '../element.ts'
import { countOf, countText, hasClock, instantText } from './texts.ts'

/** What was replayed: a file, how many requests, from when to when. */
export function replayed(
  traffic: string,
  { requests, unreadable, late }: Pick<SimulationReport, 'requests' | 'unreadable' | 'late'>,
  { first, last }: { readonly first: number | null; readonly last: number | null },
): HTMLElement {
  const span =
    first === null || last === null
      ? ''
      : `, ${instantText(first)} to ${instantText(last)}${hasClock({ start: first }) ? ' UTC' : ' since the log’s origin'}`
  const notes = [
    ...(unreadable > 0 ? [`${countOf(unreadable, 'line')} could not be read and count nowhere`] : []),
    ...(late > 0 ? [`${countText(late)} too far out of order`] : []),
  ]
  return element(
    'p',
    { class: 'note', id: 'replayed' },
    'Replayed: ',
    element('code', {}, traffic),
    `, ${countOf(requests, 'request')}${span}`,
    ...notes.map((note) => `; ${note}`),
  )
}

/** Lines below words in bold; those without a text are left out, one without a word belongs to the word before. */
export function facts(lines: readonly (readonly [name: string, ...said: Child[]])[]): HTMLElement {
  return element(
    'dl',
    { id: 'facts' },
    ...lines
      .filter(([, ...said]) => said.length > 0)
      .flatMap(([name, ...said]) => [
        ...(name === '' ? [] : [element('dt', {}, name)]),
        element('dd', {}, ...said),
      ]),
  )
}

/** The first lines that are no request. */
export function unreadableSection({
  unreadable,
  unreadableLines,
}: Pick<SimulationReport, 'unreadable' | 'unreadableLines'>): HTMLElement[] {
  if (unreadable === 0) return []
  const lines = unreadableLines.map(({ file, line, reason }) =>
    element('li', {}, `${file === undefined ? '' : `${file}, `}line ${line}: ${reason}`),
  )
  return [
    element(
      'section',
      {},
      element('h2', {}, `${countOf(unreadable, 'line')} that could not be read`),
      element('ul', {}, ...lines),
    ),
  ]
}

/** A table; on a narrow screen the rows of a wide one fold, and each figure has its column's name above it. */
export function figureTable(
  id: string,
  head: readonly string[],
  rows: readonly {
    readonly name: Child[]
    readonly isIdle?: boolean
    readonly cells: readonly (string | { readonly over: string })[]
  }[],
): HTMLElement {
  return element(
    'table',
    { id, class: head.length > 3 ? 'figures wide' : 'figures' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...head.map((text, i) => element('th', { scope: 'col', class: i > 0 && 'number' }, text)),
      ),
    ),
    element(
      'tbody',
      {},
      ...rows.map(({ name, isIdle, cells }) =>
        element(
          'tr',
          { class: isIdle === true && 'idle' },
          element('th', { scope: 'row' }, ...name),
          ...cells.map((cell, i) =>
            element(
              'td',
              { class: typeof cell === 'string' ? 'number' : 'number over', 'data-name': head[i + 1]! },
              typeof cell === 'string' ? cell : cell.over,
            ),
          ),
        ),
      ),
    ),
  )
}
