import type { Comparison, ComparisonFigures } from '@sluice/lab'
import { element } from '../element.ts'
import { changeSection } from './change-section.ts'
import type { BarCharts } from './charts.ts'
import { facts, figureTable, replayed, unreadableSection } from './summary.ts'
import {
  clockText,
  countOf,
  countText,
  hasClock,
  quotaText,
  roleText,
  shareOfAll,
  spanText,
  tickText,
} from './texts.ts'

/** What the new rules would decide otherwise. */
export function comparisonPage(figures: ComparisonFigures, charts: BarCharts): HTMLElement[] {
  const { domain, traffic, comparison, rulebooks } = figures
  document.title = `Changed limits of ${domain} on ${traffic}`
  return [
    element(
      'header',
      {},
      element('h1', {}, 'What new limits of ', element('code', {}, domain), ' would change'),
      element(
        'p',
        { class: 'note' },
        'Old: ',
        element('code', {}, rulebooks.old),
        '; new: ',
        element('code', {}, rulebooks.new),
      ),
      replayed(traffic, comparison, figures),
    ),
    ...verdict(comparison),
    ...(hasChanges(comparison) ? [changesOverTime(figures, charts)] : []),
    ...(figures.first === null ? [] : [allOverTime(figures, charts)]),
    ...(comparison.newlyDenied.requests > 0
      ? [changeSection('newlyDenied', 'Newly refused', 'Refused by', figures)]
      : []),
    ...(comparison.newlyAdmitted.requests > 0
      ? [changeSection('newlyAdmitted', 'Newly admitted', 'Was refused by', figures)]
      : []),
    rulesTable(figures),
    ...unreadableSection(comparison),
  ]
}

function hasChanges({ newlyDenied, newlyAdmitted }: Comparison): boolean {
  return newlyDenied.requests + newlyAdmitted.requests > 0
}

/** The answer in words: how many in each direction, who, when. */
function verdict({ requests, old, new: proposed, newlyDenied, newlyAdmitted }: Comparison): HTMLElement[] {
  const directions = [
    { change: newlyDenied, style: 'bad', said: 'newly refused' },
    { change: newlyAdmitted, style: 'good', said: 'newly admitted' },
  ].filter(({ change }) => change.requests > 0)
  const sentence = directions.flatMap(({ change, style, said }, i) => [
    i === 0 ? '' : ', and ',
    element(
      'b',
      { class: style },
      i === 0
        ? `${countOf(change.requests, 'request')} of ${countText(requests)} would be ${said}`
        : `${countText(change.requests)} ${said}`,
    ),
    ` (${shareOfAll(change.requests, requests)})`,
  ])
  return [
    element(
      'p',
      { id: 'verdict' },
      ...(directions.length > 0
        ? [...sentence, '.']
        : [
            element(
              'b',
              { class: 'good' },
              `None of ${countOf(requests, 'request')} would be decided otherwise.`,
            ),
          ]),
    ),
    facts([
      ...directions.flatMap(({ change, said }) => [
        [capital(said), ...who(change)] as const,
        ['', ...where(change)] as const,
        ['', ...when(change)] as const,
      ]),
      [
        'In all',
        `The old rules refuse ${countText(old.denied)} (${shareOfAll(old.denied, requests)}), the new ones ${countText(proposed.denied)} (${shareOfAll(proposed.denied, requests)}).`,
      ],
    ]),
  ]
}

function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`
}

/** Keys and routes that are named. */
const MOST_NAMED = 3
/** Of the requests that are decided otherwise: routes with less are not named. */
const LEAST_SHARE = 0.05

function who({ keys, topKeys, byPolicy }: Comparison['newlyDenied']): (HTMLElement | string)[] {
  const isTogether = topKeys.every(({ key }) => key === '')
  const by = listed(byPolicy.map(({ policy, requests }) => [policy, requests]))
  if (isTogether) return ['By ', ...by, ', which counts everyone together.']
  const named = topKeys.filter(({ key }) => key !== '').map(({ key, requests }) => [key, requests] as const)
  if (keys === 1) return [element('code', {}, topKeys[0]!.key), ' alone; by ', ...by, '.']
  return [`${countOf(keys, 'key')}, most `, ...listed(named), '; by ', ...by, '.']
}

function where({ topRoutes, requests: all }: Comparison['newlyDenied']): (HTMLElement | string)[] {
  const [first] = topRoutes
  if (first === undefined || topRoutes.every(({ route }) => route === '')) return []
  const many = topRoutes.filter(({ requests }) => requests >= all * LEAST_SHARE)
  if (many.length === 0)
    return [`On many routes, none with more than ${shareOfAll(first.requests, all)} of them.`]
  return ['On ', ...listed(many.map(({ route, requests }) => [route, requests])), '.']
}

function when({ first, last, worst }: Comparison['newlyDenied']): string[] {
  return [
    `First ${clockText(first!)}, last ${clockText(last!)}; worst minute ${clockText(worst!.minute, true)}: ${countText(worst!.requests)}.`,
  ]
}

function listed(counts: readonly (readonly [name: string, requests: number])[]): (HTMLElement | string)[] {
  return counts
    .slice(0, MOST_NAMED)
    .flatMap(([name, requests], i) => [
      i === 0 ? '' : ', ',
      element('code', {}, name),
      ` (${countText(requests)})`,
    ])
}

/** What is decided otherwise: newly refused above the line, newly admitted below it. */
function changesOverTime(figures: ComparisonFigures, charts: BarCharts): HTMLElement {
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

const KINDS = [
  ['over most', 'newly refused', 'newlyDenied'],
  ['freed most', 'newly admitted', 'newlyAdmitted'],
  ['both', 'refused by both', 'deniedByBoth'],
] as const

function allOverTime(figures: ComparisonFigures, charts: BarCharts): HTMLElement {
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

/** Every limit, in both rulebooks. */
function rulesTable({ limits, comparison }: ComparisonFigures): HTMLElement {
  const rows = limits.map(({ name, old, new: proposed }) => {
    const sides = [
      { quotas: old, policy: comparison.old.policies.find((policy) => policy.name === name) },
      { quotas: proposed, policy: comparison.new.policies.find((policy) => policy.name === name) },
    ]
    const [before, after] = sides.map(({ quotas, policy }) =>
      policy === undefined
        ? 'none'
        : quotas.length === 0
          ? 'met by no request'
          : `${quotas.map(quotaText).join(' · ')}; ${roleText(quotas)}`,
    )
    const [was, becomes] = sides.map(({ policy }) => policy?.denied)
    const cells = [was, becomes].map((count) => (count === undefined ? '–' : countText(count)))
    const more = (becomes ?? 0) - (was ?? 0)
    return {
      name: [
        element('code', {}, name),
        element('small', {}, before === after ? `${before}, as before` : `${before} → ${after}`),
      ],
      isIdle: was === undefined && becomes === undefined,
      cells: [...cells, more > 0 ? { over: `+${countText(more)}` } : more < 0 ? `−${countText(-more)}` : '0'],
    }
  })
  return element(
    'section',
    { 'aria-labelledby': 'rules-title' },
    element('div', { class: 'head' }, element('h2', { id: 'rules-title' }, 'Every limit')),
    figureTable('rules', ['Limit, old → new', 'Over it, old', 'Over it, new', 'Change'], rows),
    element(
      'p',
      { class: 'note' },
      'Each limit on its own, also those in shadow mode, as sluice simulate counts them.',
    ),
  )
}
