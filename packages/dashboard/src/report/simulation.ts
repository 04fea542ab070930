import type { TrafficFigures } from '@sluice/lab'
import { element } from '../element.ts'
import type { BarCharts } from './charts.ts'
import { limitSection } from './limit-section.ts'
import { limitTable, timelineSection } from './overview.ts'
import { replayed, unreadableSection } from './summary.ts'
import { verdict } from './verdict.ts'

/** What the limits of one rulebook would do. */
export function simulationPage(figures: TrafficFigures, charts: BarCharts): HTMLElement[] {
  const { domain, traffic, simulation } = figures
  document.title = `Limits of ${domain} on ${traffic}`
  return [
    element(
      'header',
      {},
      element('h1', {}, 'What the limits of ', element('code', {}, domain), ' would do'),
      replayed(traffic, simulation, figures),
    ),
    ...verdict(figures),
    ...(figures.first === null ? [] : [timelineSection(figures, charts)]),
    ...detailed(figures).map((limit) => limitSection(limit, figures, charts)),
    limitTable(figures),
    ...unreadableSection(simulation),
  ]
}

/** Limits with keys to show, those first that refuse most. */
function detailed({ limits, simulation }: TrafficFigures): TrafficFigures['limits'][number][] {
  const denied = new Map(simulation.policies.map((policy) => [policy.name, policy.denied]))
  return limits.filter(({ top }) => top.length > 0).sort((a, b) => denied.get(b.name)! - denied.get(a.name)!)
}
