import type { Comparison, ComparisonFigures } from '@sluice/lab'
import { element } from '../element.ts'
import { changeSection } from './change-section.ts'
import type { BarCharts } from './charts.ts'
import { allOverTime, changesOverTime } from './comparison-charts.ts'
import { comparisonVerdict } from './comparison-verdict.ts'
import { figureTable, replayed, unreadableSection } from './summary.ts'
import { countText, quotaText, roleText } from './texts.ts'

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
    ...comparisonVerdict(comparison),
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
