import type { Domain, NetworkLimit } from '@sluice/limiter/rules'
import { identifierOf } from '../identifier.ts'
import { comment, noteFor, shown, withNotes } from '../notes.ts'
import type { Exported, ExportNote } from '../target.ts'
import { type Family, familiesOf, fullAfter, noRate, rateText, ruleText } from './family.ts'

/** hashlimit: the largest burst, the highest rate. */
const MOST_BURST = 1_000_000
const MOST_A_SECOND = 1_000_000

/** A chain of its own for iptables-restore and ip6tables-restore: each passes over the lines for the other. */
export function iptables(domain: Domain, keys: number, notes: ExportNote[]): Exported {
  const rules: string[] = []
  for (const rule of domain.network ?? []) {
    const note = noteFor(rule, notes)
    const rate = rule.period === undefined ? undefined : rateText(rule.limit, rule.period)
    const reason = obstacleOf(rule, rate)
    if (reason !== undefined) {
      note(false, reason)
      continue
    }
    if (rule.key.length > 0 && rule.period !== undefined && rule.onFull === 'open')
      note(
        true,
        'clients that the table has no room for are dropped, where the rule lets them pass (on_full)',
      )
    if (rule.key.length > 0 && rule.period === undefined)
      note(true, `the table of connlimit has no size: ${keys} clients and on_full do not hold`)
    rules.push(
      comment(`${shown(rule.name)}: ${ruleText(rule)}`),
      ...familiesOf(rule).flatMap((family) => linesOf(rule, family, rate, keys)),
    )
  }
  const intro = [
    `Network rules of ${shown(domain.name)}, by sluice export nftables --format iptables. Load with iptables-restore`,
    '--noflush and with ip6tables-restore --noflush. The chain is used after, once: iptables -I INPUT -j SLUICE,',
    'and the same with ip6tables. It guards programs on this host, not what is forwarded to containers.',
  ]
  return withNotes(intro, ['*filter', ':SLUICE - [0:0]', ...rules, 'COMMIT'], notes)
}

function obstacleOf(rule: NetworkLimit, rate: string | undefined): string | undefined {
  const { period, limit, burst = 1 } = rule
  if (period !== undefined && rate === undefined) return noRate(rule)
  if (burst > MOST_BURST) return `hashlimit has a burst of at most ${MOST_BURST}, not ${burst}`
  if (period !== undefined && (limit * 1_000) / period > MOST_A_SECOND)
    return `hashlimit has at most ${MOST_A_SECOND} per second`
  return undefined
}

/** What is exempt returns from the chain before it is counted. */
function linesOf(rule: NetworkLimit, family: Family, rate: string | undefined, keys: number): string[] {
  const { protocol, port, count } = rule
  const match = [
    `-${family.version} -A SLUICE -p ${protocol} -m multiport --dports ${port.map((each) => each.replace('-', ':')).join(',')}`,
    ...(count === 'packets' ? [] : ['-m conntrack --ctstate NEW']),
  ].join(' ')
  return [
    ...(family.exempt.length > 0 ? [`${match} -s ${family.exempt.join(',')} -j RETURN`] : []),
    `${match} ${overOf(rule, family, rate, keys)} -j ${refusalOf(rule)}`,
  ]
}

function overOf(
  rule: NetworkLimit,
  { version, bits }: Family,
  rate: string | undefined,
  keys: number,
): string {
  const mask = bits ?? 0
  if (rate === undefined)
    return `-m connlimit --connlimit-above ${rule.limit} --connlimit-mask ${mask} --connlimit-saddr`
  return [
    `-m hashlimit --hashlimit-above ${rate} --hashlimit-burst ${rule.burst}`,
    ...(bits === undefined ? [] : [`--hashlimit-mode srcip --hashlimit-srcmask ${mask}`]),
    `--hashlimit-name ${identifierOf(rule.name)}_v${version}`,
    `--hashlimit-htable-max ${keys} --hashlimit-htable-expire ${fullAfter(rule)}`,
  ].join(' ')
}

function refusalOf({ onLimit }: NetworkLimit): string {
  return onLimit === 'reset' ? 'REJECT --reject-with tcp-reset' : 'DROP'
}
