import type { LimitFigures, TrafficFigures } from '@sluice/lab'
import { element } from '../element.ts'
import type { BarCharts } from './charts.ts'
import {
  countOf,
  countsTogether,
  countText,
  hasClock,
  instantText,
  keyLabel,
  lengthText,
  quotaText,
  roleText,
  shareOfAll,
  spanText,
  tickText,
} from './texts.ts'

/** The answer in words: how many, who, when. */
export function verdict(figures: TrafficFigures): HTMLElement {
  const { denied, overOnly, simulation } = figures
  const { requests } = simulation
  const said =
    denied > 0
      ? [
          element(
            'b',
            { class: 'bad' },
            `${countOf(denied, 'request')} of ${countText(requests)} would be refused`,
          ),
          ` (${shareOfAll(denied, requests)}). `,
          ...who(figures),
          ...when(figures),
        ]
      : [element('b', { class: 'good' }, `None of ${countOf(requests, 'request')} would be refused.`)]
  const over =
    overOnly === 0
      ? []
      : [` ${countOf(overOnly, 'request')} more would be over a limit that does not refuse.`]
  return element('p', { id: 'verdict' }, ...said, ...over)
}

/** The limit that refuses most, and the key that it refuses most. */
function who({ limits, simulation }: TrafficFigures): (HTMLElement | string)[] {
  const enforced = limits.filter(refuses)
  const policies = simulation.policies.filter(({ name }) => enforced.some((limit) => limit.name === name))
  const [most] = policies.sort((a, b) => b.denied - a.denied)
  if (most === undefined) return []
  const limit = enforced.find(({ name }) => name === most.name)!
  const [first] = most.top
  return [
    'Most by ',
    element('code', {}, most.name),
    `, ${hitText(limit)}: ${countOf(most.denied, 'request')}`,
    ...(first === undefined || first.key === ''
      ? []
      : [', above all ', element('code', {}, keyLabel(first.key)), ` (${countText(first.denied)})`]),
    '. ',
  ]
}

function hitText(limit: LimitFigures): string {
  if (countsTogether(limit)) return 'which counts all together'
  return `which hits ${limit.isExact ? '' : 'about '}${countText(limit.keysDenied)} of ${countOf(limit.keys, 'key')}`
}

function refuses({ quotas }: LimitFigures): boolean {
  return quotas.length === 0 || quotas.some(({ role }) => role === 'enforce' || role === 'quota')
}

function when({ timeline, denied }: TrafficFigures): string[] {
  const { start, width } = timeline
  const hit = timeline.denied.flatMap((count, i) => (count > 0 ? [i] : []))
  const worst = hit.reduce((a, b) => (timeline.denied[b]! > timeline.denied[a]! ? b : a))
  const at = (bin: number): string => instantText(start + bin * width, width)
  if (hit.length === 1) return [`All of them in the ${lengthText(width)} from ${at(worst)}.`]
  return [
    `From ${at(hit[0]!)} to ${at(hit.at(-1)! + 1)}; worst from ${at(worst)}: ${countText(timeline.denied[worst]!)} within ${lengthText(width)} (${shareOfAll(timeline.denied[worst]!, denied)} of them).`,
  ]
}

/** Four figures, and what the log was. */
export function tiles({ simulation, denied, first, last }: TrafficFigures): HTMLElement {
  const { requests, unreadable, late } = simulation
  const tile = (name: string, value: string, note: string): HTMLElement =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value, element('small', {}, note)))
  const span = first === null || last === null ? '–' : `${instantText(first)} – ${instantText(last)}`
  const unplaced = late > 0 ? `, ${countText(late)} too far out of order` : ''
  return element(
    'dl',
    { id: 'tiles' },
    tile('Requests', countText(requests), span),
    tile('Admitted', countText(requests - denied), shareOfAll(requests - denied, requests)),
    tile('Refused', countText(denied), shareOfAll(denied, requests)),
    tile(
      'Unreadable lines',
      countText(unreadable),
      unreadable === 0 ? `all lines are requests${unplaced}` : `they count nowhere${unplaced}`,
    ),
  )
}

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
        : `${limit.quotas.map(quotaText).join(' · ')}; ${roleText(limit)}`
    const note =
      missingKey > 0 ? `${quotas}; passed over ${countOf(missingKey, 'request')} without its key` : quotas
    const cells = [matched, admitted, denied].map(countText)
    return element(
      'tr',
      { class: matched === 0 && 'idle' },
      element('th', { scope: 'row' }, element('code', {}, name), element('small', {}, note)),
      ...[...cells, shareOfAll(deniedShare, 1), countText(limit.keys), countText(limit.keysDenied)].map(
        (cell, column) =>
          element('td', { class: column === 2 && denied > 0 ? 'number over' : 'number' }, cell),
      ),
    )
  })
  return element(
    'section',
    { 'aria-labelledby': 'limits-title' },
    element('div', { class: 'head' }, element('h2', { id: 'limits-title' }, 'Every limit')),
    element(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Table of limits' },
      element(
        'table',
        { id: 'limits' },
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ...head.map((text, i) => element('th', { scope: 'col', class: i > 0 && 'number' }, text)),
          ),
        ),
        element('tbody', {}, ...rows),
      ),
    ),
    element(
      'p',
      { class: 'note' },
      'Each limit on its own: a request that another one refused counts here as this one saw it.',
    ),
  )
}

/** The first lines that are no request. */
export function unreadableSection({ simulation }: TrafficFigures): HTMLElement[] {
  const { unreadable, unreadableLines } = simulation
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
