import type { Comparison } from '@sluice/lab'
import { element } from '../element.ts'
import { facts } from './summary.ts'
import { clockText, countOf, countText, shareOfAll } from './texts.ts'

/** The answer in words: how many in each direction, who, when. */
export function comparisonVerdict({
  requests,
  old,
  new: proposed,
  newlyDenied,
  newlyAdmitted,
}: Comparison): HTMLElement[] {
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
