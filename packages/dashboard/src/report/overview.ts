import type { TrafficFigures } from '@sluice/lab'
import { element } from '../element.ts'
import type { BarCharts } from './charts.ts'
import { figureTable } from './summary.ts'
import { countOf, countText, hasClock, quotaText, roleText, shareOfAll, spanText, tickText } from './texts.ts'

/** Requests over time, by what became of them. */
export function timelineSection(figures: TrafficFigures, charts: BarCharts): HTMLElement {
  const { timeline, overOnly, denied } = figures
  const { start, width, requests } = timeline
  const rest = requests.map((count, i) => count - timeline.denied[i]!)
  const zone = hasClock(timeline) ? ', times in UTC' : ', times since the log’s origin'
  return element(
    'section',
    { 'aria-labelledby': 'timeline-title' },
    element(
      'div',
      { class: 'head' },
      element('h2', { id: 'timeline-title' }, 'Requests over time'),
      element('p', { class: 'note' }, `for each ${spanText(width)}${zone}`),
    ),
    element(
      'p',
      { class: 'note keys' },
      element('span', {}, element('i', { class: 'over most' }), 'refused'),
      ...(overOnly > 0
        ? [element('span', {}, element('i', { class: 'only' }), 'over a limit that does not refuse')]
        : []),
      element('span', {}, element('i', { class: 'h4' }), 'admitted'),
    ),
    charts.add(
      {
        at: requests.map((_, i) => (start + i * width) / 1_000),
        width: width / 1_000,
        height: 220,
        layers: [
          { color: 'denied', heights: requests },
          { color: 'degraded', heights: rest },
          { color: 'allowed', heights: rest.map((count, i) => count - timeline.overOnly[i]!) },
        ],
        tick: (at, step) => tickText(at * 1_000, step * 1_000),
      },
      `Requests over time: ${countText(denied)} refused of ${countText(figures.simulation.requests)}`,
    ),
  )
}

/** Every limit with its figures. */
export function limitTable({ limits, simulation }: TrafficFigures): HTMLElement {
  const head = ['Limit', 'Requests', 'Admitted', 'Over it', 'Share', 'Keys', 'Keys over']
  const rows = simulation.policies.map(({ name, matched, admitted, denied, deniedShare, missingKey }, i) => {
    const limit = limits[i]!
    const quotas =
      limit.quotas.length === 0
        ? matched === 0
          ? 'met by no request'
          : 'refuses requests without its key'
        : `${limit.quotas.map(quotaText).join(' · ')}; ${roleText(limit.quotas)}`
    const note =
      missingKey > 0 ? `${quotas}; passed over ${countOf(missingKey, 'request')} without its key` : quotas
    return {
      name: [element('code', {}, name), element('small', {}, note)],
      isIdle: matched === 0,
      cells: [
        countText(matched),
        countText(admitted),
        denied > 0 ? { over: countText(denied) } : '0',
        shareOfAll(deniedShare, 1),
        countText(limit.keys),
        countText(limit.keysDenied),
      ],
    }
  })
  return element(
    'section',
    { 'aria-labelledby': 'limits-title' },
    element('div', { class: 'head' }, element('h2', { id: 'limits-title' }, 'Every limit')),
    figureTable('limits', head, rows),
    element(
      'p',
      { class: 'note' },
      'Each limit on its own: a request that another one refused counts here as this one saw it.',
    ),
  )
}
