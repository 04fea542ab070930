import type { KeyTraffic, LimitFigures, QuotaFigures, RateCount, TrafficFigures } from '@sluice/lab'
import { element } from '../element.ts'
import type { BarCharts } from './charts.ts'
import { heatMap } from './heat-map.ts'
import { FULLNESS, fullnessRows } from './key-rows.ts'
import {
  countOf,
  countText,
  keyLabel,
  lengthText,
  quotaText,
  roleText,
  shareOfAll,
  spanText,
  tickText,
} from './texts.ts'

/** Of rates; those below that no key has are left out. */
const LEAST_BARS = 4
const LEAST_WAITS = 3
/** Most keys with a chart of their own. */
const MOST_MULTIPLES = 8
/** Keys that are shown where none is over the limit. */
const MOST_NEAR = 4

/** Everything about one limit. */
export function limitSection(limit: LimitFigures, figures: TrafficFigures, charts: BarCharts): HTMLElement {
  const { name, quotas, keys, keysDenied, isExact, top, waits } = limit
  const { matched, denied } = figures.simulation.policies.find((policy) => policy.name === name)!
  const verb = quotas.some(({ role }) => role === 'shadow' || role === 'deprioritize')
    ? 'would be over it'
    : 'would be refused'
  const of =
    keys === 1 ? '' : `, of ${isExact ? '' : 'about '}${countText(keysDenied)} of ${countOf(keys, 'key')}`
  const hit = top.filter((key) => key.denied > 0)
  return element(
    'section',
    { class: 'limit', 'data-limit': name },
    element(
      'div',
      { class: 'head' },
      element('h2', {}, element('code', {}, name), ` ${quotas.map(quotaText).join(' · ')}`),
      element('p', { class: 'note' }, roleText(quotas)),
    ),
    element(
      'p',
      {},
      denied === 0
        ? `None of ${countOf(matched, 'request')} is over it.`
        : `${countText(denied)} of ${countOf(matched, 'request')} (${shareOfAll(denied, matched)}) ${verb}${of}.`,
    ),
    element('h3', {}, hit.length > 0 ? 'Who would be hit, and when' : 'Keys that come nearest to the limit'),
    heatMap(
      fullnessRows(hit.length > 0 ? hit : top.slice(0, MOST_NEAR), figures.timeline),
      figures.timeline,
      FULLNESS,
    ),
    element(
      'div',
      { class: 'halves' },
      ...quotas.flatMap((quota) => rateFigure(quota, keys, charts)),
      ...(denied > 0 ? [waitChart(waits, charts)] : []),
    ),
    ...(hit.length > 0 && keys > 1 ? multiples(hit.slice(0, MOST_MULTIPLES), figures, charts) : []),
  )
}

/** One key needs no chart. */
function rateFigure(quota: QuotaFigures, keys: number, charts: BarCharts): HTMLElement[] {
  const found = quota.rates?.filter((rate) => rate.keys > 0) ?? []
  if (found.length === 0) return []
  if (keys > 1) return [rateChart(quota, charts)]
  const { from, to } = found[0]!
  const asked = from === to ? countText(to) : `${countText(from)} to ${countText(to)}`
  const title = `Most units asked for within ${lengthText(quota.periodMs)}`
  return [
    element(
      'figure',
      {},
      element('figcaption', {}, element('b', {}, title)),
      element('p', {}, `${asked}; ${lineText(quota)}`),
    ),
  ]
}

function rateChart(quota: QuotaFigures, charts: BarCharts): HTMLElement {
  const all = quota.rates!
  const lowest = all.findIndex(({ keys }) => keys > 0)
  const within = all.filter(({ isOver }) => !isOver).length
  const rates = all.slice(Math.max(0, Math.min(lowest, within - 1, all.length - LEAST_BARS)))
  const labels = rates.map(rangeText)
  const over = rates.findIndex(({ isOver }) => isOver)
  const keys = rates.map((rate) => rate.keys)
  const title = `Keys by the most units asked for within ${lengthText(quota.periodMs)}`
  return element(
    'figure',
    {},
    element('figcaption', {}, element('b', {}, title)),
    charts.add(
      {
        at: rates.map((_, i) => i),
        width: 1,
        height: 190,
        labels,
        figures: keys,
        layers: [
          { color: 'allowed', heights: rates.map((rate) => (rate.isOver ? 0 : rate.keys)) },
          { color: 'denied', heights: rates.map((rate) => (rate.isOver ? rate.keys : 0)) },
        ],
        line: { before: over < 0 ? rates.length : over, text: lineText(quota) },
      },
      `${title}: ${rates.map((rate, i) => `${labels[i]}: ${countOf(rate.keys, 'key')}${rate.isOver ? ', over the limit' : ''}`).join('; ')}`,
    ),
  )
}

function rangeText({ from, to }: RateCount): string {
  if (from === 0 || to >= 1_000) return `≤ ${to.toLocaleString('en-US', { notation: 'compact' })}`
  return from >= to ? countText(to) : `${countText(from)}–${countText(to)}`
}

function lineText({ limit, capacity }: QuotaFigures): string {
  return capacity > limit ? `burst ${countText(capacity)}` : `limit ${countText(limit)}`
}

function waitChart(all: LimitFigures['waits'], charts: BarCharts): HTMLElement {
  const last = all.findLastIndex(({ denied }) => denied > 0)
  const waits = all.slice(0, Math.max(LEAST_WAITS, last + 1))
  const labels = waits.map(({ toMs }) => (toMs === null ? 'longer' : `≤ ${SHORT[toMs] ?? lengthText(toMs)}`))
  const counts = waits.map(({ denied }) => denied)
  const title = 'Waits that refusals announce (Retry-After)'
  return element(
    'figure',
    {},
    element('figcaption', {}, element('b', {}, title)),
    charts.add(
      {
        at: waits.map((_, i) => i),
        width: 1,
        height: 190,
        labels,
        figures: counts,
        layers: [{ color: 'denied', heights: counts }],
      },
      `${title}: ${counts.map((count, i) => `${labels[i]}: ${countText(count)}`).join('; ')}`,
    ),
  )
}

const SHORT: Readonly<Record<number, string>> = {
  1000: '1 s',
  10000: '10 s',
  60000: '1 min',
  600000: '10 min',
  3600000: '1 h',
  86400000: '1 d',
}

/** The traffic of the keys that were refused most, one small chart each, all over the same time. */
function multiples(keys: readonly KeyTraffic[], figures: TrafficFigures, charts: BarCharts): HTMLElement[] {
  return [
    element('h3', {}, 'Traffic of the keys over the limit most'),
    element(
      'p',
      { class: 'note keys' },
      element('span', {}, element('i', { class: 'over most' }), 'over the limit'),
      element('span', {}, element('i', { class: 'h4' }), 'within it'),
      `requests for each ${spanText(figures.timeline.width)}`,
    ),
    element('div', { class: 'multiples' }, ...keys.map((key) => multiple(key, figures, charts))),
  ]
}

function multiple(
  { key, requests, denied, series, isWhole }: KeyTraffic,
  { timeline }: TrafficFigures,
  charts: BarCharts,
): HTMLElement {
  const { start, width } = timeline
  const text = `${countText(denied)} of ${countText(requests)} over`
  return element(
    'figure',
    {},
    element(
      'figcaption',
      {},
      element('b', {}, keyLabel(key)),
      ` ${text}${isWhole ? '' : '; its earliest bars are missing'}`,
    ),
    charts.add(
      {
        at: series.requests.map((_, i) => (start + i * width) / 1_000),
        width: width / 1_000,
        height: 96,
        isSmall: true,
        layers: [
          { color: 'denied', heights: series.requests },
          { color: 'allowed', heights: series.requests.map((count, i) => count - series.denied[i]!) },
        ],
        tick: (at, step) => tickText(at * 1_000, step * 1_000),
      },
      `Requests of ${keyLabel(key)} over time: ${text}`,
    ),
  )
}
