import type { NetworkLimit } from '@sluice/limiter/rules'
import { type Family, familiesOf, fullAfter, noRate, rateText, ruleText } from './firewall/family.ts'
import { iptables } from './firewall/iptables.ts'
import { identifierOf } from './identifier.ts'
import { passedOver } from './limits/obstacle.ts'
import { timeText } from './limits/shape.ts'
import { comment, noteFor, shown, withNotes } from './notes.ts'
import type { ExportNote, ExportTarget } from './target.ts'

/** Rules of the section `network`, as a table of its own; with `iptables` as a chain of its own. */
export const nftables: ExportTarget = {
  formats: ['nft', 'iptables'],
  write(domain, keys, format) {
    const notes: ExportNote[] = passedOver(domain, ['limits', 'descriptors'])
    if (format === 'iptables') return iptables(domain, keys, notes)
    const sets: string[] = []
    const rules: string[] = []
    for (const rule of domain.network ?? []) {
      const rate = rule.period === undefined ? undefined : rateText(rule.limit, rule.period)
      if (rule.period !== undefined && rate === undefined) {
        noteFor(rule, notes)(false, noRate(rule))
        continue
      }
      const about = comment(`${shown(rule.name)}: ${ruleText(rule)}`)
      const families = familiesOf(rule)
      sets.push(...families.flatMap((family) => setOf(rule, family, keys)))
      rules.push(about, ...families.flatMap((family) => rulesOf(rule, family, rate)))
    }
    const intro = [
      `Network rules of ${shown(domain.name)}, by sluice export nftables. Load with nft -f: connections stay open, counts begin again.`,
      'It guards programs on this host (hook input), not what is forwarded to containers.',
    ]
    const body = [
      'table inet sluice',
      'delete table inet sluice',
      'table inet sluice {',
      ...sets.map((line) => `  ${line}`),
      '  chain input {',
      '    type filter hook input priority filter - 10; policy accept;',
      ...rules.map((line) => `    ${line}`),
      '  }',
      '}',
    ]
    return withNotes(intro, body, notes)
  },
}

function setName({ name }: NetworkLimit, { version }: Family): string {
  return `${identifierOf(name)}_v${version}`
}

/** Where the firewall remembers clients. Those that are counted by what they have open go when they have nothing. */
function setOf(rule: NetworkLimit, family: Family, keys: number): string[] {
  if (family.bits === undefined) return []
  const flags =
    rule.period === undefined ? 'dynamic' : `dynamic,timeout; timeout ${timeText(fullAfter(rule))}`
  return [`set ${setName(rule, family)} { type ipv${family.version}_addr; size ${keys}; flags ${flags}; }`]
}

function rulesOf(rule: NetworkLimit, family: Family, rate: string | undefined): string[] {
  const { protocol, port, count, limit, burst, onLimit, onFull } = rule
  const source = family.version === 4 ? 'ip saddr' : 'ip6 saddr'
  const match = [
    `meta nfproto ipv${family.version}`,
    `${protocol} dport { ${port.join(', ')} }`,
    ...(count === 'packets' ? [] : ['ct state new']),
    ...(family.exempt.length > 0 ? [`${source} != { ${family.exempt.join(', ')} }`] : []),
  ].join(' ')
  const over =
    rate === undefined ? `ct count over ${limit}` : `limit rate over ${rate} burst ${burst} packets`
  const refuse = onLimit === 'reset' ? 'reject with tcp reset' : 'drop'
  if (family.bits === undefined) return [`${match} ${over} counter ${refuse}`]
  const client = masked(source, family)
  const set = `@${setName(rule, family)}`
  const statement = rate === undefined ? 'add' : 'update'
  return [
    `${match} ${statement} ${set} { ${client} ${over} } counter ${refuse}`,
    // A client for whom the set has no room passes the rule before.
    ...(onFull === 'closed' ? [`${match} ${client} != ${set} counter ${refuse}`] : []),
  ]
}

function masked(source: string, { version, bits }: Family): string {
  return bits === (version === 4 ? 32 : 128) ? source : `${source} & ${maskText(version, bits!)}`
}

/** Leading ones, as an address. */
function maskText(version: 4 | 6, bits: number): string {
  const [groups, size] = version === 4 ? [4, 8] : [8, 16]
  const parts = Array.from({ length: groups }, (_, i) => {
    const ones = Math.min(size, Math.max(0, bits - i * size))
    return (2 ** size - 2 ** (size - ones)).toString(version === 4 ? 10 : 16)
  })
  return parts.join(version === 4 ? '.' : ':')
}
