import type { TrafficFigures } from '@sluice/lab'
import { byId, element } from '../element.ts'
import { BarCharts } from './charts.ts'
import { limitSection } from './limit-section.ts'
import { limitTable, tiles, timelineSection, unreadableSection, verdict } from './overview.ts'

const figures = JSON.parse(byId('figures').textContent) as TrafficFigures
const charts = new BarCharts()

document.title = `Limits of ${figures.domain} on ${figures.traffic}`
byId('report').append(
  element(
    'header',
    {},
    element('h1', {}, 'What the limits of ', element('code', {}, figures.domain), ' would do'),
    element('p', { class: 'note' }, 'Replayed: ', element('code', {}, figures.traffic)),
  ),
  verdict(figures),
  tiles(figures),
  ...(figures.first === null ? [] : [timelineSection(figures, charts)]),
  ...detailed(figures).map((limit) => limitSection(limit, figures, charts)),
  limitTable(figures),
  ...unreadableSection(figures),
)

/** Limits with keys to show, those first that refuse most. */
function detailed({ limits, simulation }: TrafficFigures): TrafficFigures['limits'][number][] {
  const denied = new Map(simulation.policies.map((policy) => [policy.name, policy.denied]))
  return limits.filter(({ top }) => top.length > 0).sort((a, b) => denied.get(b.name)! - denied.get(a.name)!)
}
