import { ConfigError } from '@sluice/limiter'
import { nearest } from '@sluice/limiter/errors'
import { checkOptions, objectOf, textCheck, wholeFrom } from '@sluice/limiter/options'
import { compile, type Domain } from '@sluice/limiter/rules'
import { envoy } from './envoy.ts'
import { haproxy } from './haproxy.ts'
import { nftables } from './nftables.ts'
import { nginx } from './nginx.ts'
import type { Exported, ExportTarget } from './target.ts'

/** Every program that rules are exported for. A new one is a file here and a line. */
const targets: Readonly<Record<ExportTargetName, ExportTarget>> = { nginx, haproxy, envoy, nftables }

export type ExportTargetName = 'nginx' | 'haproxy' | 'envoy' | 'nftables'

/** The names of all targets. */
export const exportTargets: readonly ExportTargetName[] = Object.keys(targets) as ExportTargetName[]

export interface ExportOptions {
  /** Which spelling of the target's: `iptables` for nftables. Default: its own. */
  readonly format?: string
  /** Clients that each table holds, 1 to 10,000,000. Default 100,000. */
  readonly keys?: number
}

const OPTIONS = objectOf<ExportOptions>({ format: textCheck, keys: wholeFrom(1) })
const DEFAULT_KEYS = 100_000
const MOST_KEYS = 10_000_000

/**
 * A domain's rules as the configuration of a proxy or firewall, and notes on those that it cannot have. The same rules
 * give the same text, byte for byte.
 * @throws ConfigError for an unknown target, format or option, and for what is no domain
 * @example
 * const [shop] = await loadRulebook(['rules/'])
 * const { text, notes } = exportRules('nginx', shop)
 */
export function exportRules(target: ExportTargetName, domain: Domain, options: ExportOptions = {}): Exported {
  checkOptions(options, OPTIONS)
  compile([domain]) // throws for all that is no domain
  if (!Object.hasOwn(targets, target)) throw new ConfigError(unknown('target', target, exportTargets))
  const { format, keys = DEFAULT_KEYS } = options
  if (keys > MOST_KEYS) throw new ConfigError(`keys must be at most ${MOST_KEYS}, not ${keys}`)
  const { formats = [], write }: ExportTarget = targets[target]
  if (format !== undefined && !formats.includes(format)) {
    throw new ConfigError(
      formats.length === 0 ? `${target} has one format only` : unknown('format', format, formats),
    )
  }
  return write(domain, keys, format)
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const hint = nearest(name, known)
  const names = hint === undefined ? `there are ${known.join(', ')}` : `did you mean ${hint}?`
  return `no ${what} is named ${JSON.stringify(name)}; ${names}`
}
