import type { ComparisonFigures, TrafficFigures } from '@sluice/lab'
import { byId } from '../element.ts'
import { BarCharts } from './charts.ts'
import { comparisonPage } from './comparison.ts'
import { simulationPage } from './simulation.ts'

const figures = JSON.parse(byId('figures').textContent) as ComparisonFigures | TrafficFigures
const charts = new BarCharts()

byId('report').append(
  ...('comparison' in figures ? comparisonPage(figures, charts) : simulationPage(figures, charts)),
)
