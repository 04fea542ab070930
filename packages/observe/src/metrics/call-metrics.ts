import { type Event, type Observer, observerOf } from '@sluice/limiter/events'
import { Counter, type Registry } from 'prom-client'

/** Destinations with a label of their own; calls to others count together. */
const MOST_DESTINATIONS = 1_000
const OTHERS = 'others'

/**
 * What became of calls to others: of `outbound` and `retrying` of @sluice/client.
 * @returns the observer that the figures are made of
 * @example
 * add(reportCalls([registry]))
 */
export function reportCalls(registers: Registry[]): Observer {
  const calls = new Counter({
    name: 'sluice_calls_total',
    help: 'Calls to others that waited for their turn, were refused here, sent again, or given up',
    labelNames: ['destination', 'outcome'],
    registers,
  })
  const pauses = new Counter({
    name: 'sluice_call_pauses_total',
    help: 'Pauses that destinations asked for',
    labelNames: ['destination'],
    registers,
  })
  const known = new Set<string>()
  const labelOf = (destination: string): string => {
    if (known.size < MOST_DESTINATIONS) known.add(destination)
    return known.has(destination) ? destination : OTHERS
  }
  const types = [
    'call-waited',
    'call-refused',
    'call-retried',
    'call-given-up',
    'destination-paused',
  ] as const
  return observerOf(types, (event: Event) => {
    if (event.type === 'destination-paused') pauses.inc({ destination: labelOf(event.destination) })
    else if ('destination' in event) {
      const outcome = event.type.slice('call-'.length).replaceAll('-', '_')
      calls.inc({ destination: labelOf(event.destination), outcome })
    }
  })
}
