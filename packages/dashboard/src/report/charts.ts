import uPlot from 'uplot'
import { element } from '../element.ts'

/** Bars that stand on one another, or side by side where each has a label of its own. */
export interface BarChart {
  /** Where each bar begins, in seconds; or 0, 1, 2 … with `labels`. */
  readonly at: readonly number[]
  /** How far a bar reaches, in units of `at`. */
  readonly width: number
  /** From the top of the pile to its bottom: each is drawn over the one before. Below 0 they hang from the line. */
  readonly layers: readonly { readonly color: string; readonly heights: readonly number[] }[]
  readonly height: number
  /** Names of the bars, below them, and their figures above. */
  readonly labels?: readonly string[]
  readonly figures?: readonly number[]
  /** A line before this bar, with a text. */
  readonly line?: { readonly before: number; readonly text: string }
  /** Text at an instant of the axis; `step` is the distance to the next. */
  readonly tick?: (at: number, step: number) => string
  readonly isSmall?: boolean
}

const FONT = '12px system-ui, sans-serif'

/** Charts of the page, drawn anew when colours or sizes change. */
export class BarCharts {
  readonly #charts = new Map<HTMLElement, { readonly chart: BarChart; drawn: uPlot | undefined }>()
  readonly #observer = new ResizeObserver((entries) => {
    for (const { target } of entries) this.#resize(target as HTMLElement)
  })

  constructor() {
    for (const query of ['(prefers-color-scheme: dark)', 'print'])
      matchMedia(query).addEventListener('change', () => this.#drawAll())
  }

  /** @param label what the chart shows, for those who do not see it */
  add(chart: BarChart, label: string): HTMLElement {
    const place = element('div', { class: 'chart', role: 'img', 'aria-label': label })
    place.style.height = `${chart.height}px`
    this.#charts.set(place, { chart, drawn: undefined })
    this.#observer.observe(place)
    return place
  }

  #resize(place: HTMLElement): void {
    const known = this.#charts.get(place)
    if (known === undefined || place.clientWidth === 0) return
    if (known.drawn === undefined) this.#draw(place)
    else known.drawn.setSize({ width: place.clientWidth, height: known.chart.height })
  }

  #drawAll(): void {
    for (const place of this.#charts.keys()) this.#draw(place)
  }

  #draw(place: HTMLElement): void {
    const known = this.#charts.get(place)!
    known.drawn?.destroy()
    const { at, layers } = known.chart
    const data = [at, ...layers.map(({ heights }) => heights)] as unknown as uPlot.AlignedData
    known.drawn = new uPlot(optionsOf(known.chart, place), data, place)
  }
}

function optionsOf(chart: BarChart, place: HTMLElement): uPlot.Options {
  const { at, width, layers, height, labels, isSmall } = chart
  const style = getComputedStyle(document.documentElement)
  const colorOf = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  const axis = { stroke: colorOf('muted'), ticks: { show: false }, font: FONT }
  const heights = layers.flatMap((layer) => layer.heights)
  const [lowest, highest] = [Math.min(0, ...heights), Math.max(0, ...heights)]
  const first = at[0] ?? 0
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [labels === undefined ? 8 : 24, isSmall ? 4 : 12, 0, isSmall ? 0 : 4],
    scales: {
      x: { time: false, range: [first, (at.at(-1) ?? 0) + width] },
      y:
        labels === undefined
          ? { range: [lowest * 1.05, Math.max(highest * 1.05, lowest === 0 ? 1 : 0)] }
          : rootScale(Math.max(1, highest)),
    },
    axes: [
      labels === undefined ? timeAxis(chart, axis) : nameAxis(labels, axis),
      {
        ...axis,
        show: labels === undefined,
        size: isSmall ? 34 : 54,
        space: 28,
        grid: { stroke: colorOf('line'), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7, 1e8, 1e9],
        values: (_, values) =>
          values.map((value) => Math.abs(value).toLocaleString('en-US', { notation: 'compact' })),
      },
    ],
    series: [
      {},
      ...layers.map(({ color }) => ({
        fill: colorOf(color),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({
          size: [labels === undefined ? 1 : 0.8, Number.POSITIVE_INFINITY],
          align: 1,
        }),
      })),
    ],
    hooks: { draw: [(plot) => annotate(plot, chart, colorOf)] },
  }
}

/** Few keys beside many must be seen: heights are by the square root, and each bar has its figure. */
function rootScale(highest: number): uPlot.Scale {
  return {
    distr: 100,
    fwd: (value) => Math.sqrt(Math.max(0, value)),
    bwd: (value) => value * value,
    // Room for the figures, below the name of the line.
    range: [0, highest * 1.25],
  }
}

function timeAxis({ tick, isSmall }: BarChart, axis: Partial<uPlot.Axis>): uPlot.Axis {
  const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400]
  return {
    ...axis,
    size: 24,
    space: isSmall ? 70 : 60,
    grid: { show: false },
    incrs: [...STEPS, ...[2, 4, 7, 14, 28, 56, 112, 364, 728, 3_640].map((days) => days * 86_400)],
    values: (_, times, _axis, _space, step) => times.map((time) => tick?.(time, step) ?? ''),
  }
}

function nameAxis(labels: readonly string[], axis: Partial<uPlot.Axis>): uPlot.Axis {
  const middles = labels.map((_, i) => i + 0.4)
  return {
    ...axis,
    size: 24,
    grid: { show: false },
    splits: () => middles,
    values: ({ width }) => {
      const each = Math.ceil(
        (Math.max(...labels.map(({ length }) => length)) * 7 + 8) / (width / labels.length),
      )
      return labels.map((label, i) => (i % each === 0 ? label : ''))
    },
  }
}

/** The figures over bars, and the line of the limit. */
function annotate(
  plot: uPlot,
  { figures, at, width, layers, line }: BarChart,
  colorOf: (name: string) => string,
): void {
  const { ctx } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = `${12 * ratio}px system-ui, sans-serif`
  ctx.textBaseline = 'bottom'
  ctx.textAlign = 'center'
  ctx.fillStyle = colorOf('text')
  figures?.forEach((figure, i) => {
    const top = Math.max(0, ...layers.map(({ heights }) => heights[i]!))
    if (figure === 0) return
    ctx.fillText(
      figure.toLocaleString('en-US'),
      plot.valToPos(at[i]! + 0.4 * width, 'x', true),
      plot.valToPos(top, 'y', true) - 2 * ratio,
    )
  })
  if (line !== undefined) drawLine(plot, line, colorOf)
  ctx.restore()
}

function drawLine(
  { ctx, bbox, valToPos }: uPlot,
  { before, text }: NonNullable<BarChart['line']>,
  colorOf: (name: string) => string,
): void {
  const ratio = devicePixelRatio
  const x = valToPos(before - 0.1, 'x', true)
  ctx.strokeStyle = colorOf('text')
  ctx.lineWidth = 2 * ratio
  ctx.setLineDash([5 * ratio, 4 * ratio])
  ctx.beginPath()
  ctx.moveTo(x, 4 * ratio)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
  ctx.textBaseline = 'top'
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`
  const isLeft = x > bbox.left + bbox.width * 0.6
  ctx.textAlign = isLeft ? 'right' : 'left'
  ctx.fillStyle = colorOf('text')
  ctx.fillText(text, x + (isLeft ? -6 : 6) * ratio, 2 * ratio)
}
