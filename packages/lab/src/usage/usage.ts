import type { Rule } from '@sluice/limiter/decide'
import {
  compile,
  type Domain,
  type Matched,
  parsePart,
  type Request,
  type Rules,
} from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { LabError } from '../lab-error.ts'
import { Decider, matchPast, type Questions } from '../simulate/decider.ts'
import type { TrafficOptions } from '../simulate/simulate-traffic.ts'
import { wantedFields } from '../simulate/wanted-fields.ts'
import type { LineOptions } from '../traffic/line-maker.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { dailyAllowance, dayOf, type UsageDay, UsageTally } from './usage-day.ts'

export interface UsageOptions extends TrafficOptions {
  /** By what callers are told apart: a part of a key such as `tenant` or `ip/24`, or the name of an attribute. */
  readonly by: string
  /** Rules that say what is refused, and what callers may use. Default: refused is what the log has with status 429. */
  readonly rules?: { readonly rules: Rules; readonly domain: Domain } | undefined
  /** The limit whose share is shown. Default: the first that counts by the same part alone. */
  readonly policy?: string | undefined
}

/** What is known of a request before it is decided. */
interface UsageRequest {
  readonly caller: string
  readonly units: number
  readonly is429: boolean
  readonly matched: Matched | undefined
}

const TOO_MANY = '429'

/**
 * What each caller used, day by day as the log goes on; of one day at a time anything is held.
 * @returns what became of the lines
 * @throws LabError for traffic that cannot be read, and for a part or a policy that there is not
 * @example
 * for await (const { day, callers } of usageOf(sourcesOf(['access.log']), { by: 'tenant' })) console.log(day, callers)
 */
export async function* usageOf(
  sources: readonly TrafficSource[],
  { by, rules, policy, ...traffic }: UsageOptions,
): AsyncGenerator<UsageDay, Pick<ReadCounts, 'requests' | 'unreadable'>> {
  const callers = callersBy(by)
  const questions: Questions | undefined = rules && { rules: rules.rules, domain: rules.domain.name }
  const shown = policyShown(rules?.domain, callers.part, policy)
  const decider = new Decider()
  const counts = new ReadCounts()
  const options: LineOptions<UsageRequest> = {
    ...traffic,
    wanted: wantedOf([callers.domain, ...(rules === undefined ? [] : [rules.domain])]),
    domain: rules?.domain.name,
    make(request, cost, recorded) {
      const matched = questions && matchPast(questions, request, cost, recorded)
      if (typeof matched === 'string') return matched
      const is429 = String(request.attributes?.status) === TOO_MANY
      return { caller: callers.of(request), units: cost ?? 1, is429, matched }
    },
  }
  let tally: UsageTally | undefined
  let today = 0
  for await (const { length, at, duration, made } of readTraffic(sources, options, counts)) {
    for (let i = 0; i < length; i++) {
      const day = dayOf(at[i]!)
      if (tally !== undefined && day !== today) {
        yield tally.report(today)
        tally = undefined
      }
      tally ??= new UsageTally()
      today = day
      const { caller, units, is429, matched } = made[i]!
      const fate = matched && decider.decide(matched.steps, at[i]!, duration[i]!)
      const step = fate?.steps.find(({ rule }) => rule.name === shown)
      const isRefused = fate === undefined ? is429 : !fate.allowed
      tally.add(caller, step?.cost ?? units, isRefused, step && allowanceOf(step.rule))
    }
  }
  if (tally !== undefined) yield tally.report(today)
  return counts
}

/** Finds a request's caller as a rule with this key would. */
function callersBy(by: string): { part: string; domain: Domain; of(request: Request): string } {
  const part = partOf(by)
  const [domain] = loadText(
    `domain: usage\nlimits: [{ name: usage, key: [${JSON.stringify(part)}], limit: 1000000000/day }]`,
  )
  const questions = { rules: compile([domain!]), domain: 'usage' }
  return {
    part,
    domain: domain!,
    of(request) {
      const matched = matchPast(questions, request, undefined)
      return typeof matched === 'string' ? '' : (matched.steps[0]?.key ?? '')
    },
  }
}

/** A part of a key, or the attribute of that name. @throws LabError */
function partOf(by: string): string {
  for (const part of [by, `attribute:${by}`]) {
    try {
      parsePart(part)
      return part
    } catch (error) {
      if (part !== by || !/^[\w.-]+$/.test(by)) throw new LabError((error as Error).message)
    }
  }
  return by
}

/** @throws LabError where the domain has no such limit */
function policyShown(
  domain: Domain | undefined,
  part: string,
  policy: string | undefined,
): string | undefined {
  const limits = domain?.limits ?? []
  if (policy === undefined) return limits.find(({ key }) => key.length === 1 && key[0] === part)?.name
  if (limits.some(({ name }) => name === policy)) return policy
  throw new LabError(`no limit is named ${JSON.stringify(policy)}`)
}

function allowanceOf({ plan }: Rule): number | undefined {
  if (plan.algorithm.traits.holds === true) return undefined
  return dailyAllowance(plan.limit, plan.period * plan.unit)
}

function wantedOf(domains: readonly Domain[]): ReadonlySet<string> {
  return new Set([...domains.flatMap((domain) => [...wantedFields(domain, false)!]), 'status'])
}
