import type { Step } from '@sluice/limiter/decide'
import { compile, type Domain } from '@sluice/limiter/rules'
import { Decider, matchPast, type Questions } from '../simulate/decider.ts'
import { wantedFields } from '../simulate/wanted-fields.ts'
import type { LineOptions } from '../traffic/line-maker.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'

/**
 * How many requests each limit of a domain refuses: a plain replay of each by itself, all of them in one go.
 * @returns by the limit's name
 */
export async function replayRules(
  sources: readonly TrafficSource[],
  domain: Domain,
  traffic: Omit<LineOptions<object>, 'make' | 'wanted'>,
): Promise<ReadonlyMap<string, number>> {
  const questions: Questions = { rules: compile([domain]), domain: domain.name }
  const limits = domain.limits.map(({ name }) => ({ name, decider: new Decider(), denied: 0 }))
  const options: LineOptions<readonly (readonly Step[])[]> = {
    ...traffic,
    onLine: undefined,
    wanted: wantedFields(domain, false),
    make(request, cost) {
      const matched = matchPast(questions, request, cost)
      if (typeof matched === 'string') return matched
      return limits.map(({ name }) => matched.steps.filter(({ rule }) => rule.name === name))
    },
  }
  for await (const { length, at, duration, made } of readTraffic(sources, options, new ReadCounts())) {
    for (let i = 0; i < length; i++) {
      for (let own = 0; own < limits.length; own++) {
        const steps = made[i]![own]!
        const limit = limits[own]!
        if (steps.length > 0 && !limit.decider.decide(steps, at[i]!, duration[i]!).allowed) limit.denied++
      }
    }
  }
  return new Map(limits.map(({ name, denied }) => [name, denied]))
}
