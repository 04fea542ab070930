import { algorithms } from '@sluice/limiter/algorithms'
import type { Domain, Limit } from '@sluice/limiter/rules'
import { shown } from '../notes.ts'
import type { ExportNote } from '../target.ts'
import { timeText } from './shape.ts'

/** Why no proxy can decide a limit alone, or `undefined`. */
export function obstacleOf(limit: Limit, { limits }: Domain): string | undefined {
  const { limit: quota, cost, mode, onLimit, onMissingKey, algorithm } = limit
  const replacing = limits.find(({ name, replaces }) => name !== limit.name && replaces.includes(limit.name))
  if ('by' in quota) return `it has a quota for each ${quota.by}, which only the application knows`
  if (typeof quota.period === 'object') return 'its period is one of the calendar'
  if (quota.limit === 0) return 'it refuses everything, which is no rate: deny the requests themselves'
  if (cost !== 1) return `a request costs ${cost}, and there each counts as 1`
  if (mode === 'shadow') return 'it only reports (mode: shadow), and there a limit refuses'
  if (onLimit === 'deprioritize') return 'it lowers a priority, and there a limit refuses'
  if (onLimit === 'delay' && !algorithms[algorithm].traits.queues) return 'it delays past its soft limit'
  if (onMissingKey === 'deny') return 'it refuses requests without a part of its key'
  if (limit.overrides.length > 0) return 'it has other limits for some callers (overrides)'
  if (limit.block !== undefined)
    return `it refuses for ${timeText(limit.block.for)} after ${limit.block.after} refusals (block)`
  if (limit.refill === 'interval') return 'its tokens come all at once (refill: interval)'
  if (replacing !== undefined) return `${shown(replacing.name)} replaces it for some requests`
  return undefined
}

/** What is lost of a limit that a proxy decides, besides its algorithm. */
export function lossesOf({ soft, blockable, jitter, tarpit, retryAfter }: Limit): string[] {
  return [
    ...(soft === undefined ? [] : [`nothing is marked from ${soft * 100}% on (soft)`]),
    ...(blockable === true ? ['no key can be blocked by hand (blockable)'] : []),
    ...(jitter === undefined ? [] : ['Retry-After has no jitter']),
    ...(tarpit === undefined ? [] : [`refusals are not held back for ${timeText(tarpit)} (tarpit)`]),
    ...(retryAfter === undefined ? [] : ['Retry-After has the form of the proxy (retry_after)']),
  ]
}

/** One note for each of a domain's rules that such a program does not read. */
export function passedOver(domain: Domain, lists: readonly ('limits' | 'descriptors')[]): ExportNote[] {
  const reasons = {
    limits: 'a firewall sees ports and addresses, not requests',
    descriptors: 'what makes its descriptors is in the configuration of the proxy',
  }
  return lists.flatMap((list) =>
    domain[list].map((rule) => ({
      rule: 'name' in rule ? rule.name : rule.key,
      exported: false,
      message: reasons[list],
      ...(rule.source !== undefined && { source: rule.source }),
    })),
  )
}
