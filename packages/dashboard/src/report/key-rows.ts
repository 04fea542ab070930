import type { KeyTraffic, Timeline } from '@sluice/lab'
import { byColumn, columnsOf, firstAndLast, type HeatLegend, type HeatRow } from './heat-map.ts'
import { countOf, countText, keyLabel } from './texts.ts'

export const FULLNESS: HeatLegend = {
  count: 'Over limit',
  countStyle: 'over',
  styles: [
    ['', 'no request'],
    ['h1', 'under 25 % of the limit in use'],
    ['h2', '25 %'],
    ['h3', '50 %'],
    ['h4', '75–100 %'],
    ['over', 'some over the limit'],
    ['over most', 'most over the limit'],
  ],
}

/** How full each key's limit was, and when it was refused. */
export function fullnessRows(keys: readonly KeyTraffic[], timeline: Timeline): HeatRow[] {
  const { joined } = columnsOf(timeline)
  return keys.map(({ key, requests: all, denied, series, fullness }): HeatRow => {
    const over = byColumn(series.denied, joined)
    const fullest = byColumn(fullness, joined, (numbers) => Math.max(...numbers))
    const when =
      denied === 0 ? `at most ${Math.max(0, ...fullest)} % of the limit in use` : firstAndLast(over, timeline)
    return {
      label: keyLabel(key),
      count: denied,
      summary: `${countText(denied)} of ${countText(all)} requests over the limit, ${when}`,
      cells: byColumn(series.requests, joined).map((requests, i) => ({
        style: styleOf(requests, over[i]!, fullest[i]!),
        text: cellText(requests, over[i]!, fullest[i]!),
      })),
    }
  })
}

function styleOf(requests: number, denied: number, fullness: number): string {
  if (denied > 0) return denied > requests / 2 ? 'over most' : 'over'
  return requests === 0 ? '' : `h${Math.min(4, Math.floor(fullness / 25) + 1)}`
}

function cellText(requests: number, denied: number, fullness: number): string {
  if (requests === 0) return 'no request'
  const over = denied > 0 ? `${countText(denied)} over the limit of ` : ''
  return `${over}${countOf(requests, 'request')}, at most ${fullness} % of the limit in use`
}
