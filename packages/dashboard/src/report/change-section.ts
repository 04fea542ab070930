import type { ComparisonFigures } from '@sluice/lab'
import { element } from '../element.ts'
import { byColumn, columnsOf, firstAndLast, type HeatLegend, type HeatRow, heatMap } from './heat-map.ts'
import { figureTable } from './summary.ts'
import { countOf, countText, keyLabel, shareOfAll } from './texts.ts'

type Direction = 'newlyDenied' | 'newlyAdmitted'

const COLORS: Readonly<Record<Direction, string>> = { newlyDenied: 'over', newlyAdmitted: 'freed' }

/** Who and what is decided otherwise in one direction. */
export function changeSection(
  direction: Direction,
  title: string,
  by: string,
  figures: ComparisonFigures,
): HTMLElement {
  const { requests, keys, byPolicy, topKeys, topRoutes } = figures.comparison[direction]
  const share = (count: number): string => shareOfAll(count, requests)
  const counted = (
    id: string,
    name: string,
    rows: readonly { readonly name: string; readonly requests: number }[],
  ): HTMLElement =>
    figureTable(
      `${direction}-${id}`,
      [name, 'Requests', 'Share'],
      rows.map((row) => ({
        name: [element('code', {}, row.name === '' ? '(no route)' : row.name)],
        cells: [countText(row.requests), share(row.requests)],
      })),
    )
  return element(
    'section',
    { class: 'limit', 'data-change': direction },
    element(
      'div',
      { class: 'head' },
      element(
        'h2',
        {},
        `${title}: ${countOf(requests, 'request')}${topKeys.every(({ key }) => key === '') ? '' : ` of ${countOf(keys, 'key')}`}`,
      ),
    ),
    element('h3', {}, 'Who, and when'),
    heatMap(changeRows(direction, figures), figures.timeline, legendOf(direction, title.toLowerCase())),
    element(
      'div',
      { class: 'halves' },
      counted(
        'policies',
        by,
        byPolicy.map(({ policy, requests: times }) => ({ name: policy, requests: times })),
      ),
      ...(topRoutes.some(({ route }) => route !== '')
        ? [
            counted(
              'routes',
              'Route',
              topRoutes.map(({ route, requests: times }) => ({ name: route, requests: times })),
            ),
          ]
        : []),
    ),
  )
}

function changeRows(
  direction: Direction,
  { comparison, timeline, [direction]: times }: ComparisonFigures,
): HeatRow[] {
  const { joined } = columnsOf(timeline)
  const said = direction === 'newlyDenied' ? 'newly refused' : 'newly admitted'
  const { topKeys, byPolicy } = comparison[direction]
  const columns = times.map(({ requests }) => byColumn(requests, joined))
  const most = Math.max(1, ...columns.flat())
  return topKeys.map(({ key, policy, requests }, i): HeatRow => {
    const { isWhole } = times[i]!
    const name = byPolicy.length > 1 ? `${keyLabel(key)} · ${policy}` : keyLabel(key)
    return {
      label: isWhole ? name : `${name} (not all cells known)`,
      count: requests,
      summary: `${countOf(requests, 'request')} ${said}, ${firstAndLast(columns[i]!, timeline)}`,
      cells: columns[i]!.map((count) => ({
        style: count === 0 ? '' : `${COLORS[direction]} c${Math.ceil((4 * count) / most)}`,
        text: count === 0 ? 'none' : `${countText(count)} ${said}`,
      })),
    }
  })
}

function legendOf(direction: Direction, said: string): HeatLegend {
  const color = COLORS[direction]
  return {
    count: 'Requests',
    countStyle: direction === 'newlyDenied' ? 'over' : 'good',
    styles: [
      ['', 'none'],
      [`${color} c1`, `few ${said}`],
      [`${color} c4`, 'most in a cell'],
    ],
  }
}
