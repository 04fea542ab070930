import {
  decisionsOf,
  type LivePolicy,
  overLimit,
  type PolicySpike,
  policyId,
  policyWords,
  shareText,
  wholeText,
} from '@sluice/observe/live'
import { byId, element, KeyedRows, setText } from './element.ts'
import type { LimitFacts } from './rulebook-facts.ts'

/** Limits that are shown; of more, those that decided most. */
const MOST_ROWS = 100
const BINS = 11

interface Shown {
  readonly facts: LimitFacts
  readonly minute: LivePolicy | undefined
  readonly spike: PolicySpike | undefined
}

/** Every limit with its last minute: how many came, how many were over it, and how full it was when they came. */
export class PolicyTable {
  readonly #rows: KeyedRows<Shown, HTMLTableRowElement>
  facts: readonly LimitFacts[] = []
  /** The last quarter of an hour of each limit. */
  spikes: readonly PolicySpike[] = []

  constructor() {
    this.#rows = new KeyedRows(byId('policies').querySelector('tbody')!, makeRow, updateRow)
  }

  /** @param minutes the last minute of each policy that decided in it */
  show(minutes: readonly LivePolicy[]): void {
    const spikes = new Map(this.spikes.map((spike) => [policyId(spike), spike]))
    const known = new Map(this.facts.map((facts) => [policyId(facts), facts]))
    const active = minutes.map((minute): [string, Shown] => {
      const id = policyId(minute)
      const facts = known.get(id) ?? { ...minute, limit: '', mode: '' }
      return [id, { minute, facts, spike: spikes.get(id) }]
    })
    const deciding = new Set(active.map(([id]) => id))
    const idle = [...known]
      .filter(([id]) => !deciding.has(id))
      .map(([id, facts]): [string, Shown] => [id, { facts, minute: undefined, spike: spikes.get(id) }])
    this.#rows.show([...active, ...idle].slice(0, MOST_ROWS))
  }
}

function makeRow({ facts }: Shown): HTMLTableRowElement {
  const strip = element('div', { class: 'strip', role: 'img' })
  for (let i = 0; i < BINS; i++) strip.append(element('i'))
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, policyWords(facts), element('small')),
    element('td', { class: 'number' }),
    element('td', { class: 'number' }),
    element('td', { class: 'number' }),
    element('td', { class: 'heat' }, strip),
    element('td', { class: 'number wide' }),
    element('td', { class: 'number wide' }),
  )
}

function updateRow(row: HTMLTableRowElement, { facts, minute, spike }: Shown): void {
  const [name, requests, over, share, heat, busiest, degraded] = row.children as unknown as HTMLElement[]
  setText(
    name!.querySelector('small')!,
    facts.domain === '' ? facts.limit : `${facts.domain} · ${facts.limit}`,
  )
  showMode(name!, facts.mode)
  row.className = minute === undefined ? 'idle' : ''
  setText(requests!, minute === undefined ? '0' : wholeText(decisionsOf(minute)))
  setText(over!, minute === undefined ? '0' : wholeText(overLimit(minute)))
  setText(share!, minute === undefined ? '–' : shareText(overLimit(minute), decisionsOf(minute)))
  over!.title = minute === undefined ? '' : overWords(minute)
  over!.className = minute !== undefined && minute.limited > 0 ? 'number over' : 'number'
  setText(busiest!, spike === undefined ? '–' : peakText(spike))
  setText(degraded!, minute === undefined ? '0' : wholeText(minute.degraded))
  showFullness(heat!.firstElementChild as HTMLElement, minute?.fullness ?? [])
}

/** It may be known, or change, after the row was made. */
function showMode(name: HTMLElement, mode: string): void {
  const badge = name.querySelector('.badge')
  if (mode === (badge?.textContent ?? '')) return
  badge?.remove()
  if (mode !== '') name.lastElementChild!.before(element('span', { class: 'badge' }, mode))
}

/** Ten tenths of the limit and, apart, over it: the more of the decisions, the stronger the colour. */
function showFullness(strip: HTMLElement, bins: readonly number[]): void {
  const all = bins.reduce((sum, count) => sum + count, 0)
  const shares = Array.from({ length: BINS }, (_, i) => (all === 0 ? 0 : bins[i]! / all))
  for (const [i, share] of shares.entries()) {
    const cell = strip.children[i] as HTMLElement
    const level = share === 0 ? 0 : share < 0.1 ? 1 : share < 0.3 ? 2 : share < 0.6 ? 3 : 4
    cell.className = `h${level}`
    cell.title = `${binText(i)}: ${shareText(share, 1)} of its requests`
  }
  const words = shares
    .map((share, i) => (share === 0 ? '' : `${binText(i)}: ${shareText(share, 1)}`))
    .filter((text) => text !== '')
  strip.setAttribute('aria-label', words.length === 0 ? 'no requests' : words.join(', '))
}

function binText(bin: number): string {
  return bin === BINS - 1 ? 'over the limit' : `${bin * 10}–${bin * 10 + 10} % in use`
}

/** What was asked for in the busiest second, and what of it was admitted. */
function peakText({ peak: { demand, admitted } }: PolicySpike): string {
  return demand === admitted ? wholeText(demand) : `${wholeText(demand)} → ${wholeText(admitted)}`
}

/** In words, what being over the limit meant. */
function overWords(minute: LivePolicy): string {
  if (minute.limited > 0) return 'refused'
  return overLimit(minute) === 0 ? '' : minute.shadow > 0 ? 'would be refused' : 'at low priority'
}
