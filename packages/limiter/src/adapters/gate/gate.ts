import { diagnostics } from '../../observe/channels.ts'
import { everyObserver } from '../../observe/events.ts'
import { callerOf } from './caller/caller.ts'
import { type CallerList, callerList } from './caller/caller-list.ts'
import { proxyWarnings } from './caller/proxy-warnings.ts'
import { type Gate, gateOf } from './gate-of.ts'
import type { FrameworkArgs } from './incoming-request.ts'
import { limitSourceOf } from './limits/choose-source.ts'
import type { OwnFields } from './options/fields.ts'
import type { GateOptions } from './options/options.ts'
import { type GateSettings, gateSettingsOf } from './options/settings.ts'

export type { Gate }

/**
 * @param more checks for options that the framework's adapter reads itself
 * @throws ConfigError for options that are wrong, or contradict each other
 * @example
 * const gate = createGate<[Request]>({ limit: 100, period: '1m', key: (request) => request.headers.get('x-user') ?? '' })
 * const { refusal } = await gate.enter(incoming)
 */
export function createGate<N extends FrameworkArgs>(options: GateOptions<N>, more: OwnFields = {}): Gate<N> {
  const settings = published(gateSettingsOf(options, more))
  const source = limitSourceOf(settings)
  const { denyList = [], allowList = [] } = settings
  const listed = (name: string, entries: readonly string[]): CallerList<true> | undefined =>
    callerList(
      entries.map((entry, i) => [entry, true, [name, i]] as const),
      settings.key !== undefined,
    )
  return gateOf({
    settings,
    source,
    findCaller: callerOf(settings),
    watch: proxyWarnings(settings),
    denied: listed('denyList', denyList),
    exempt: listed('allowList', allowList),
  })
}

/** A limiter that is passed in has its own observer: its decisions would be published twice. */
function published<N extends FrameworkArgs>(settings: GateSettings<N>): GateSettings<N> {
  if (settings.limiter !== undefined) return settings
  const { observe } = settings
  const channels = diagnostics()
  return { ...settings, observe: observe === undefined ? channels : everyObserver(observe, channels).observe }
}
