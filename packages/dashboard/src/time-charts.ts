import { type LiveRow, msText, perSecondText } from '@sluice/observe/live'
import uPlot from 'uplot'
import { byId, element, setText } from './element.ts'

type Columns = uPlot.AlignedData

interface CurveLine {
  readonly label: string
  /** A colour of the page's, and the class of its mark. */
  readonly color: string
  readonly filled?: true
  readonly dashed?: true
}

interface ChartShape {
  readonly id: string
  readonly title: string
  readonly lines: readonly CurveLine[]
  readonly text: (value: number | null) => string
  readonly logarithmic?: true
  readonly most?: number
  /** Can be those of one limit. */
  readonly byPolicy?: true
  columns(rows: readonly LiveRow[]): (number | null)[][]
}

/** What a logarithmic axis names, in milliseconds. */
const POWERS = [0.01, 0.1, 1, 10, 100, 1_000, 10_000]

/** The curves are not shorter than so many seconds. */
const LEAST_SECONDS = 60
const HEIGHTS: Readonly<Record<string, number>> = { traffic: 190, dropped: 190, latency: 190 }

const SHAPES: readonly ChartShape[] = [
  {
    id: 'traffic',
    title: '',
    // The first is drawn up to all requests, the second over it: what is seen of the first is what was refused.
    lines: [
      { label: 'refused', color: 'denied', filled: true },
      { label: 'admitted', color: 'allowed', filled: true },
      { label: 'without the store', color: 'degraded' },
    ],
    text: (value) => perSecondText(value ?? 0),
    byPolicy: true,
    columns: (rows) => [
      rows.map(([, allowed, denied]) => allowed + denied),
      rows.map(([, allowed]) => allowed),
      rows.map(([, , , degraded]) => degraded),
    ],
  },
  {
    id: 'dropped',
    title: 'Share refused',
    lines: [{ label: 'of what was asked for', color: 'denied' }],
    text: (value) => (value === null ? '–' : `${Math.round(value)} %`),
    most: 100,
    byPolicy: true,
    columns: (rows) => [
      rows.map(([, allowed, denied]) =>
        allowed + denied === 0 ? null : (denied / (allowed + denied)) * 100,
      ),
    ],
  },
  {
    id: 'latency',
    title: 'Time that Sluice takes',
    lines: [
      { label: 'median', color: 'p50' },
      { label: '95 %', color: 'p95' },
      { label: '99 %', color: 'p99' },
      { label: '1 ms', color: 'muted', dashed: true },
    ],
    text: msText,
    logarithmic: true,
    columns: (rows) => [
      rows.map(([, , , , p50]) => p50),
      rows.map(([, , , , , p95]) => p95),
      rows.map(([, , , , , , p99]) => p99),
      rows.map(() => 1),
    ],
  },
]

/** The curves over time, drawn anew when colours or sizes change. */
export class TimeCharts {
  #charts: readonly uPlot[] = []
  #rows: readonly LiveRow[] = []
  #ofPolicy: readonly LiveRow[] | undefined
  #seconds = 300

  constructor() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
    new ResizeObserver(() => {
      for (const [i, { id }] of SHAPES.entries()) this.#charts[i]?.setSize(sizeOf(id))
    }).observe(byId('charts'))
    for (const shape of SHAPES) captionOf(shape)
    this.#draw()
  }

  /** How many seconds are shown. */
  set seconds(seconds: number) {
    this.#seconds = seconds
    this.show(this.#rows, this.#ofPolicy)
  }

  /** @param ofPolicy the rows of the limit that was chosen */
  show(rows: readonly LiveRow[], ofPolicy: readonly LiveRow[] | undefined): void {
    this.#rows = rows
    this.#ofPolicy = ofPolicy
    for (const [i, shape] of SHAPES.entries()) {
      const shown = ((shape.byPolicy && ofPolicy) || rows).slice(-this.#seconds)
      this.#charts[i]!.setData(dataOf(shape, shown, this.#seconds))
      showLast(shape, shown)
    }
  }

  #draw(): void {
    for (const chart of this.#charts) chart.destroy()
    this.#charts = SHAPES.map(
      (shape) => new uPlot(optionsOf(shape), [[]] as unknown as Columns, byId(shape.id)),
    )
    this.show(this.#rows, this.#ofPolicy)
  }
}

/** With an empty beginning where less than a minute is known. */
function dataOf(shape: ChartShape, rows: readonly LiveRow[], seconds: number): Columns {
  const last = rows.at(-1)?.[0]
  if (last === undefined) return [[], ...shape.lines.map(() => [])] as unknown as Columns
  const first = Math.min(rows[0]![0], last - LEAST_SECONDS * 1_000)
  const begin = Math.max(first, last - (seconds - 1) * 1_000)
  const pad = rows[0]![0] > begin ? [begin] : []
  const times = [...pad, ...rows.map(([at]) => at)].map((at) => at / 1_000)
  return [times, ...shape.columns(rows).map((column) => [...pad.map(() => null), ...column])] as Columns
}

function captionOf({ id, title, lines }: ChartShape): void {
  const caption = byId(id).querySelector('figcaption')!
  if (title !== '') caption.append(element('b', {}, title))
  for (const { label, color } of lines)
    caption.append(element('span', { class: `c-${color}` }, `${label} `, element('b')))
}

/** The figures of the last second, for those who do not see the curves. */
function showLast({ id, lines, text, columns }: ChartShape, rows: readonly LiveRow[]): void {
  const marks = byId(id).querySelectorAll('figcaption span b')
  const last = columns(rows.slice(-1)).map((column) => column[0] ?? null)
  if (id === 'traffic') last[0] = (last[0] ?? 0) - (last[1] ?? 0)
  lines.forEach(({ dashed }, i) => {
    if (!dashed) setText(marks[i]!, text(last[i] ?? null))
  })
}

function sizeOf(id: string): { width: number; height: number } {
  return { width: byId(id).clientWidth, height: HEIGHTS[id]! }
}

function optionsOf({ id, lines, text, logarithmic, most }: ChartShape): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colorOf = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  const axis = {
    stroke: colorOf('muted'),
    grid: { stroke: colorOf('line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  return {
    ...sizeOf(id),
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 24, 0, 0],
    scales: {
      y: logarithmic
        ? { distr: 3, range: (_, low, high) => [Math.min(low || 0.01, 0.01), Math.max(high || 10, 10)] }
        : { range: (_, _low, high) => [0, most ?? Math.max(1, Math.ceil(high * 1.1))] },
    },
    axes: [
      { ...axis, size: 26, space: 80, values: (_, times) => times.map(clockText) },
      {
        ...axis,
        size: 54,
        ...(logarithmic && { splits: () => POWERS }),
        values: (_, values) => values.map((value) => text(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color, filled, dashed }) => ({
        label,
        stroke: colorOf(color),
        width: filled ? 0 : 1.5,
        ...(filled && { fill: colorOf(color) }),
        ...(dashed && { dash: [5, 5] }),
        points: { show: false },
        spanGaps: false,
      })),
    ],
  }
}

function clockText(seconds: number): string {
  return new Date(seconds * 1_000).toTimeString().slice(0, 8)
}
