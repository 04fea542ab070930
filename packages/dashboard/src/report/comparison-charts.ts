import type { ComparisonFigures } from '@sluice/lab'
import { element } from '../element.ts'
import type { BarCharts } from './charts.ts'
import { countText, hasClock, spanText, tickText } from './texts.ts'

/** What is decided otherwise: newly refused above the line, newly admitted below it. */
export function changesOverTime(figures: ComparisonFigures, charts: BarCharts): HTMLElement {
  const { timeline, comparison } = figures
  const { newlyDenied, newlyAdmitted } = timeline
  const [refused, admitted] = [comparison.newlyDenied.requests, comparison.newlyAdmitted.requests]
  return timeSection(
    figures,
    'Requests that are decided otherwise',
    [
      ...(refused > 0 ? ([['over most', 'newly refused']] as const) : []),
      ...(admitted > 0
        ? ([['freed most', refused > 0 ? 'newly admitted, below the line' : 'newly admitted']] as const)
        : []),
    ],
    charts.add(
      {
        ...placesOf(timeline),
        height: 200,
        layers: [
          { color: 'denied', heights: newlyDenied },
          { color: 'good', heights: refused > 0 ? newlyAdmitted.map((count) => -count) : newlyAdmitted },
        ],
      },
      `Requests that are decided otherwise over time: ${countText(refused)} newly refused, ${countText(admitted)} newly admitted`,
    ),
  )
}

/** Requests that not both admit: how they look, what they are, their figures. */
const KINDS = [
  ['over most', 'newly refused', 'newlyDenied'],
  ['freed most', 'newly admitted', 'newlyAdmitted'],
  ['both', 'refused by both', 'deniedByBoth'],
] as const

/** All requests, by what both rulebooks make of them. */
export function allOverTime(figures: ComparisonFigures, charts: BarCharts): HTMLElement {
  const { timeline, comparison } = figures
  const { requests, newlyDenied, newlyAdmitted, deniedByBoth } = timeline
  const above = (...parts: (readonly number[])[]): number[] =>
    requests.map((count, i) => parts.reduce((rest, part) => rest - part[i]!, count))
  return timeSection(
    figures,
    'All requests',
    [...KINDS.filter(([, , kind]) => timeline[kind].some((count) => count > 0)), ['h4', 'admitted by both']],
    charts.add(
      {
        ...placesOf(timeline),
        height: 160,
        layers: [
          { color: 'denied', heights: requests },
          { color: 'good', heights: above(newlyDenied) },
          { color: 'muted', heights: above(newlyDenied, newlyAdmitted) },
          { color: 'allowed', heights: above(newlyDenied, newlyAdmitted, deniedByBoth) },
        ],
      },
      `All requests over time: ${countText(comparison.requests)}, of which the old rules refuse ${countText(comparison.old.denied)} and the new ones ${countText(comparison.new.denied)}`,
    ),
  )
}

function placesOf({ start, width, requests }: ComparisonFigures['timeline']): {
  at: number[]
  width: number
  tick: (at: number, step: number) => string
} {
  return {
    at: requests.map((_, i) => (start + i * width) / 1_000),
    width: width / 1_000,
    tick: (at, step) => tickText(at * 1_000, step * 1_000),
  }
}

function timeSection(
  { timeline }: ComparisonFigures,
  title: string,
  keys: readonly (readonly [style: string, text: string, ...unknown[]])[],
  chart: HTMLElement,
): HTMLElement {
  const zone = hasClock(timeline) ? ', times in UTC' : ', times since the log’s origin'
  return element(
    'section',
    {},
    element(
      'div',
      { class: 'head' },
      element('h2', {}, title),
      element('p', { class: 'note' }, `for each ${spanText(timeline.width)}${zone}`),
    ),
    element(
      'p',
      { class: 'note keys' },
      ...keys.map(([style, text]) => element('span', {}, element('i', { class: style }), text)),
    ),
    chart,
  )
}
