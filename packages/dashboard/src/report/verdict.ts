import type { LimitFigures, TrafficFigures } from '@sluice/lab'
import { element } from '../element.ts'
import { facts } from './summary.ts'
import {
  countOf,
  countsTogether,
  countText,
  instantText,
  keyLabel,
  lengthText,
  quotaText,
  shareOfAll,
} from './texts.ts'

/** Limits that are named, and keys of each. */
const MOST_NAMED = 3

/** The answer in words: how many, who, when. */
export function verdict(figures: TrafficFigures): HTMLElement[] {
  const { denied, overOnly, simulation } = figures
  const { requests } = simulation
  const said =
    denied > 0
      ? [
          element(
            'b',
            { class: 'bad' },
            `${countOf(denied, 'request')} of ${countText(requests)} would be refused`,
          ),
          ` (${shareOfAll(denied, requests)}).`,
        ]
      : [element('b', { class: 'good' }, `None of ${countOf(requests, 'request')} would be refused.`)]
  return [
    element('p', { id: 'verdict' }, ...said),
    facts([
      ...(denied > 0 ? who(figures).map((line, i) => [i === 0 ? 'Who' : '', ...line] as const) : []),
      ['When', ...(denied > 0 ? when(figures) : [])],
      [
        'Besides',
        ...(overOnly > 0
          ? [
              `${countOf(overOnly, 'request')} ${denied > 0 ? 'more ' : ''}would be over a limit that does not refuse: `,
              ...namesOf(figures),
              '.',
            ]
          : []),
      ],
    ]),
  ]
}

/** For each limit that refuses, those that refuse most first: the keys that it refuses most. */
function who({ limits, simulation }: TrafficFigures): (HTMLElement | string)[][] {
  const refusing = limits
    .flatMap((limit, i) => (refuses(limit) ? [{ limit, policy: simulation.policies[i]! }] : []))
    .filter(({ policy }) => policy.denied > 0)
    .sort((a, b) => b.policy.denied - a.policy.denied)
  return refusing.slice(0, MOST_NAMED).map(({ limit, policy }) => {
    const [quota] = limit.quotas
    const keys = policy.top.slice(0, MOST_NAMED)
    const named = keys.flatMap(({ key, denied }, i) => [
      i === 0 ? '' : ', ',
      element('code', {}, keyLabel(key)),
      ` (${countText(denied)})`,
    ])
    return [
      element('code', {}, limit.name),
      `${quota === undefined ? '' : ` (${quotaText(quota)})`} refuses ${countOf(policy.denied, 'request')}`,
      ...(countsTogether(limit)
        ? [': it counts everyone together.']
        : limit.keys === 1
          ? [' of its one key, ', element('code', {}, keyLabel(keys[0]?.key ?? '')), '.']
          : [` of ${hitText(limit)}, most `, ...named, '.']),
    ]
  })
}

function hitText(limit: LimitFigures): string {
  return `${limit.isExact ? '' : 'about '}${countText(limit.keysDenied)} of ${countOf(limit.keys, 'key')}`
}

function namesOf({ limits, simulation }: TrafficFigures): (HTMLElement | string)[] {
  const over = limits.filter((limit, i) => !refuses(limit) && simulation.policies[i]!.denied > 0)
  return over.slice(0, MOST_NAMED).flatMap(({ name }, i) => [i === 0 ? '' : ', ', element('code', {}, name)])
}

function refuses({ quotas }: LimitFigures): boolean {
  return quotas.length === 0 || quotas.some(({ role }) => role === 'enforce' || role === 'quota')
}

function when({ timeline, denied }: TrafficFigures): string[] {
  const { start, width } = timeline
  const hit = timeline.denied.flatMap((count, i) => (count > 0 ? [i] : []))
  const worst = hit.reduce((a, b) => (timeline.denied[b]! > timeline.denied[a]! ? b : a))
  const at = (bin: number): string => instantText(start + bin * width, width)
  if (hit.length === 1) return [`All of them in the ${lengthText(width)} from ${at(worst)}.`]
  return [
    `From ${at(hit[0]!)} to ${at(hit.at(-1)! + 1)}; worst from ${at(worst)}: ${countText(timeline.denied[worst]!)} within ${lengthText(width)} (${shareOfAll(timeline.denied[worst]!, denied)} of them).`,
  ]
}
