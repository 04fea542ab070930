import { type Observer, observerOf } from '@sluice/limiter/events'
import { keptGauge } from '@sluice/observe/parts'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { LiveRules } from '../rules/live-rules.ts'

/** What is in force, and whether the files can be used. @returns the observer that the figures are made of */
export function reportRules(
  rules: () => Pick<LiveRules, 'live' | 'failure'>,
  registers: Registry[],
): Observer {
  const reloads = new Counter({
    name: 'sluice_rules_reloads_total',
    help: 'Reloads of the rulebook',
    labelNames: ['result'],
    registers,
  })
  const works = new Gauge({
    name: 'sluice_rules_last_reload_successful',
    help: '1: the files are in force as they were last read; 0: they have a mistake, and older rules are in force',
    registers,
  })
  const since = new Gauge({
    name: 'sluice_rules_last_reload_success_timestamp_seconds',
    help: 'When the rulebook was last read without a mistake',
    registers,
  })
  keptGauge(registers, {
    name: 'sluice_rules_error_since_timestamp_seconds',
    help: 'Since when the files have a mistake; 0: they have none',
    rows: () => [[{}, (rules().failure?.since ?? 0) / 1_000]],
  })
  keptGauge(registers, {
    name: 'sluice_rules_info',
    help: '1, labelled with the version of the rules in force: the same on every node that has the same rules',
    labelNames: ['version'],
    rows: () => {
      const { live } = rules()
      return live === undefined ? [] : [[{ version: live.version }, 1]]
    },
  })
  for (const result of ['changed', 'unchanged', 'refused']) reloads.inc({ result }, 0)
  return observerOf(['reloaded'], (event) => {
    if (event.type !== 'reloaded') return
    const { result } = event
    reloads.inc({ result })
    works.set(result === 'refused' ? 0 : 1)
    if (result !== 'refused') since.setToCurrentTime()
  })
}
