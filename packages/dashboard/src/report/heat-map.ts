import type { Timeline } from '@sluice/lab'
import { element } from '../element.ts'
import { countText, instantText } from './texts.ts'

/** Most cells in a row. */
const MOST_CELLS = 60

/** What a heat map has of time. */
type HeatTimes = Pick<Timeline, 'start' | 'width' | 'requests'>

/** A row with a cell for each column of time. */
export interface HeatRow {
  readonly label: string
  readonly count: number
  readonly cells: readonly HeatCell[]
  /** All of it in words. */
  readonly summary: string
}

interface HeatCell {
  /** A class of the legend. */
  readonly style: string
  readonly text: string
}

/** What the counts of rows are, and what the colours mean. */
export interface HeatLegend {
  readonly count: string
  /** How counts above 0 look. */
  readonly countStyle: 'over' | 'good'
  readonly styles: readonly (readonly [style: string, text: string])[]
}

/** HeatTimes that are one column, and how many milliseconds it lasts. */
export function columnsOf({ requests, width }: HeatTimes): {
  readonly joined: number
  readonly width: number
} {
  const joined = Math.ceil(requests.length / MOST_CELLS)
  return { joined, width: width * joined }
}

/** One result for each column, of the numbers of its bins. */
export function byColumn(
  numbers: readonly number[],
  joined: number,
  join: (numbers: readonly number[]) => number = sumOf,
): number[] {
  return Array.from({ length: Math.ceil(numbers.length / joined) }, (_, i) =>
    join(numbers.slice(i * joined, (i + 1) * joined)),
  )
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

/** The instants at which columns begin that have something: the first, and the last. */
export function firstAndLast(counts: readonly number[], bins: HeatTimes): string {
  const { width } = columnsOf(bins)
  const at = (column: number): string => instantText(bins.start + column * width, width)
  const some = counts.flatMap((count, i) => (count > 0 ? [i] : []))
  return `first from ${at(some[0] ?? 0)}, last from ${at(some.at(-1) ?? 0)}`
}

/** Rows of keys, columns of time, a readout of single cells. */
export function heatMap(rows: readonly HeatRow[], bins: HeatTimes, legend: HeatLegend): HTMLElement {
  const { joined, width } = columnsOf(bins)
  const readout = element('p', { class: 'note readout', 'aria-live': 'polite' }, HINT)
  const show = (text: string): void => {
    readout.textContent = text
  }
  return element(
    'div',
    {},
    element(
      'table',
      { class: 'heat-map' },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, 'Key'),
          element('th', { scope: 'col', class: 'number' }, legend.count),
          element('th', { scope: 'col' }, timeScale(bins, width * Math.ceil(bins.requests.length / joined))),
        ),
      ),
      element('tbody', {}, ...rows.map((row) => rowOf(row, legend.countStyle, bins.start, width, show))),
    ),
    element(
      'p',
      { class: 'note keys' },
      ...legend.styles.map(([style, text]) => element('span', {}, element('i', { class: style }), text)),
    ),
    readout,
  )
}

const HINT = 'Point at a cell, or move to a row with Tab and along it with the arrow keys, for its figures.'

function rowOf(
  { label, count, cells, summary }: HeatRow,
  countStyle: string,
  start: number,
  width: number,
  show: (text: string) => void,
): HTMLElement {
  const strip = element('div', { class: 'strip', role: 'img', tabindex: '0', 'aria-label': summary })
  cells.forEach(({ style }, i) => {
    const mark = element('i', { class: style })
    mark.dataset.cell = String(i)
    strip.append(mark)
  })
  strip.style.gridTemplateColumns = `repeat(${cells.length}, 1fr)`
  followCells(strip, cells.length, (i) => {
    show(`${label}, from ${instantText(start + i * width, width)}: ${cells[i]!.text}`)
  })
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, label),
    element('td', { class: `number ${count > 0 ? countStyle : ''}` }, countText(count)),
    element('td', { class: 'heat' }, strip),
  )
}

/** Calls with the cell under the pointer, or the one that the arrow keys chose. */
function followCells(strip: HTMLElement, count: number, show: (cell: number) => void): void {
  let chosen = 0
  const choose = (cell: number): void => {
    strip.children[chosen]?.classList.remove('chosen')
    chosen = Math.min(count - 1, Math.max(0, cell))
    strip.children[chosen]?.classList.add('chosen')
    show(chosen)
  }
  strip.addEventListener('pointermove', ({ target }) => {
    const { cell } = (target as HTMLElement).dataset
    if (cell !== undefined) show(Number(cell))
  })
  strip.addEventListener('focus', () => choose(chosen))
  strip.addEventListener('blur', () => strip.children[chosen]?.classList.remove('chosen'))
  strip.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count }[event.key]
    if (step === undefined) return
    event.preventDefault()
    choose(chosen + step)
  })
}

function timeScale({ start, width: bin }: HeatTimes, length: number): HTMLElement {
  const middle = start + length / 2
  return element(
    'span',
    { class: 'scale' },
    ...[start, middle, start + length].map((time) => element('span', {}, instantText(time, bin))),
  )
}
