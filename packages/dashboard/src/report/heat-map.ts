import type { KeyTraffic, Timeline } from '@sluice/lab'
import { element } from '../element.ts'
import { countText, instantText, keyLabel } from './texts.ts'

/** Most cells in a row. */
const MOST_CELLS = 60

/** Rows of keys, columns of time: how full each key's limit was, and when it was refused. */
export function heatMap(keys: readonly KeyTraffic[], timeline: Timeline): HTMLElement {
  const joined = Math.ceil(timeline.requests.length / MOST_CELLS)
  const width = timeline.width * joined
  const readout = element('p', { class: 'note readout', 'aria-live': 'polite' }, HINT)
  const rows = keys.map((figures) => {
    const cells = cellsOf(figures, joined)
    const strip = element('div', {
      class: 'strip',
      role: 'img',
      tabindex: '0',
      'aria-label': stripLabel(figures, cells, timeline.start, width),
    })
    cells.forEach((cell, i) => {
      const mark = element('i', { class: classOf(cell) })
      mark.dataset.cell = String(i)
      strip.append(mark)
    })
    strip.style.gridTemplateColumns = `repeat(${cells.length}, 1fr)`
    followCells(strip, cells.length, (i) => {
      readout.textContent = `${keyLabel(figures.key)}, from ${instantText(timeline.start + i * width, width)}: ${cellText(cells[i]!)}`
    })
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, keyLabel(figures.key)),
      element('td', { class: `number${figures.denied > 0 ? ' over' : ''}` }, countText(figures.denied)),
      element('td', { class: 'heat' }, strip),
    )
  })
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
          element('th', { scope: 'col', class: 'number' }, 'Over limit'),
          element(
            'th',
            { scope: 'col' },
            timeScale(timeline, width * Math.ceil(timeline.requests.length / joined)),
          ),
        ),
      ),
      element('tbody', {}, ...rows),
    ),
    scale(),
    readout,
  )
}

const HINT = 'Point at a cell, or move to a row with Tab and along it with the arrow keys, for its figures.'

interface Cell {
  readonly requests: number
  readonly denied: number
  /** Percent. */
  readonly fullness: number
}

function cellsOf({ series, fullness }: KeyTraffic, joined: number): Cell[] {
  return Array.from({ length: Math.ceil(fullness.length / joined) }, (_, i) => {
    const part = (numbers: readonly number[]): readonly number[] =>
      numbers.slice(i * joined, (i + 1) * joined)
    return {
      requests: sumOf(part(series.requests)),
      denied: sumOf(part(series.denied)),
      fullness: Math.max(...part(fullness)),
    }
  })
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

function classOf({ requests, denied, fullness }: Cell): string {
  if (denied > 0) return denied > requests / 2 ? 'over most' : 'over'
  return requests === 0 ? '' : `h${Math.min(4, Math.floor(fullness / 25) + 1)}`
}

function cellText({ requests, denied, fullness }: Cell): string {
  if (requests === 0) return 'no request'
  const over = denied > 0 ? `${countText(denied)} over the limit of ` : ''
  return `${over}${countText(requests)} requests, at most ${fullness} % of the limit in use`
}

function stripLabel(
  { requests, denied }: KeyTraffic,
  cells: readonly Cell[],
  start: number,
  width: number,
): string {
  const over = cells.flatMap((cell, i) => (cell.denied > 0 ? [i] : []))
  const when =
    over.length === 0
      ? `at most ${Math.max(0, ...cells.map(({ fullness }) => fullness))} % of the limit in use`
      : `first from ${instantText(start + over[0]! * width, width)}, last from ${instantText(start + over.at(-1)! * width, width)}`
  return `${countText(denied)} of ${countText(requests)} requests over the limit, ${when}`
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

function timeScale({ start, width: bin }: Timeline, length: number): HTMLElement {
  const middle = start + length / 2
  return element(
    'span',
    { class: 'scale' },
    ...[start, middle, start + length].map((time) => element('span', {}, instantText(time, bin))),
  )
}

/** What the colours mean. */
function scale(): HTMLElement {
  const key = (style: string, text: string): HTMLElement =>
    element('span', {}, element('i', { class: style }), text)
  return element(
    'p',
    { class: 'note keys' },
    key('', 'no request'),
    key('h1', 'under 25 % of the limit in use'),
    key('h2', '25 %'),
    key('h3', '50 %'),
    key('h4', '75–100 %'),
    key('over', 'some over the limit'),
    key('over most', 'most over the limit'),
  )
}
