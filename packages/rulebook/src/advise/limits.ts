import { isDeepStrictEqual } from 'node:util'
import { algorithms } from '@sluice/limiter/algorithms'
import type { Limit, LimitOptions, Quota } from '@sluice/limiter/rules'
import type { Placed } from '../lint/placed.ts'
import { quoted } from '../mistake.ts'
import { type Path, positionOf } from '../syntax/source.ts'
import type { Advice, AdviceKind } from './advice.ts'
import { isOnLogin } from './login.ts'

/** A lease of more than this share of a limit leaves too little for the other nodes. */
const MOST_LEASED = 0.05

/** @param limits all of one domain @param isAlone whether the domain has no rules of another kind */
export function adviseLimits(limits: readonly Placed<Limit>[], isAlone: boolean): Advice[] {
  return [
    ...limits.flatMap((limit) => [
      ...onWindow(limit),
      ...onStoreError(limit),
      ...onLease(limit),
      ...onMissingAddress(limit, limits),
    ]),
    ...(isAlone ? onOneForAll(limits) : []),
  ]
}

/** @param field of the rule, where the advice is about one */
export function adviceOn(
  { source, path }: Placed<unknown>,
  field: Path,
  kind: AdviceKind,
  rule: string,
  reason: string,
  instead: string,
): Advice {
  return { ...positionOf(source, [...path, ...field]), kind, rule, reason, instead }
}

/** Whether a rule can refuse a request. */
function refuses({ mode, onLimit }: LimitOptions): boolean {
  return mode === 'enforce' && onLimit !== 'deprioritize'
}

function onWindow(place: Placed<Limit>): Advice[] {
  const { rule } = place
  if (!isOnLogin(rule) || !isWindow(rule) || !refuses(rule)) return []
  return [adviceOn(place, ['algorithm'], 'window-on-login', rule.name, ...windowWords(quotaOf(rule).limit))]
}

/** Whether all that was counted is forgotten at one instant. */
export function isWindow({ algorithm }: LimitOptions): boolean {
  return algorithms[algorithm].traits.ends === true
}

export function windowWords(limit: number): [reason: string, instead: string] {
  return [
    `around the end of a fixed window twice the limit passes: ${2 * limit} guesses at once, where ${limit} were meant`,
    'algorithm: sliding-window-log, which admits the limit in any period, wherever it begins',
  ]
}

function onStoreError(place: Placed<Limit>): Advice[] {
  const { rule } = place
  if (!isOnLogin(rule) || rule.onStoreError !== 'open' || !refuses(rule)) return []
  return [adviceOn(place, ['on_store_error'], 'open-login', rule.name, ...OPEN_WORDS)]
}

export const OPEN_WORDS: [reason: string, instead: string] = [
  'while the store is down the limit is off (open, the default), and passwords can be guessed without end',
  'on_store_error: closed, which admits no logins then, or local, which counts in each node by itself',
]

function onLease(place: Placed<Limit>): Advice[] {
  const { rule } = place
  return leaseAdvice(place, ['lease'], rule.name, rule, quotaOf(rule).limit)
}

export function leaseAdvice(
  place: Placed<unknown>,
  field: Path,
  name: string,
  { prefetch }: LimitOptions,
  limit: number,
): Advice[] {
  if (prefetch === undefined || prefetch <= MOST_LEASED * limit) return []
  const most = Math.floor(MOST_LEASED * limit)
  return [
    adviceOn(
      place,
      field,
      'lease-on-small-limit',
      name,
      `a node takes ${prefetch} of ${limit} units ahead: what one node holds and does not use, the others refuse`,
      most >= 2
        ? `lease: ${most} at most, a twentieth of the limit`
        : 'no lease: a limit this small needs none',
    ),
  ]
}

/** Parts of a key that a caller has only after it said who it is. */
const IDENTITY = /^(?:user|api-key|attribute:user|header:authorization|cookie:.+)(?:\|fold)?$/

function onMissingAddress(place: Placed<Limit>, limits: readonly Placed<Limit>[]): Advice[] {
  const { rule } = place
  const part = rule.key.findIndex((each) => IDENTITY.test(each))
  if (part < 0 || hasAddress(rule) || !refuses(rule)) return []
  const isLogin = isOnLogin(rule)
  // Who guesses passwords names another user each time, so that only an address or all together bounds it.
  if (!isLogin && rule.onMissingKey !== 'skip') return []
  const isCovered = limits.some(
    ({ rule: other }) =>
      refuses(other) && (hasAddress(other) || (!isLogin && other.key.length === 0)) && coversAll(other, rule),
  )
  if (isCovered) return []
  const who = isLogin
    ? 'a caller that tries many users once each meets no limit'
    : `requests without ${rule.key[part]} meet no limit`
  return [
    adviceOn(
      place,
      ['key', part],
      'user-without-address',
      rule.name,
      who,
      `a second limit${rule.when === undefined ? '' : ' with the same when'} and key: [ip]`,
    ),
  ]
}

function hasAddress({ key }: Limit): boolean {
  return key.some((part) => /^ip(?:\/|$)/.test(part))
}

/** Whether a limit is also for the requests of another; only where it is certain. */
function coversAll({ when }: Limit, other: Limit): boolean {
  return when === undefined || isDeepStrictEqual(when, other.when)
}

function onOneForAll(limits: readonly Placed<Limit>[]): Advice[] {
  const [place, another] = limits
  if (place === undefined || another !== undefined) return []
  const { name, when, cost } = place.rule
  if (when !== undefined || typeof cost === 'string' || !refuses(place.rule)) return []
  return [
    adviceOn(
      place,
      ['name'],
      'one-limit-for-all-routes',
      name,
      `${quoted(name)} is the only limit, and for every route: a login may be tried as often as a picture is loaded`,
      'a further limit for each route that is costly or attacked, such as when: { method: POST, path: /login }',
    ),
  ]
}

function quotaOf({ limit }: Limit): Quota {
  return 'by' in limit ? limit.otherwise : limit
}
