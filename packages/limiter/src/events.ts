/** What happens, and who observes it. */
export {
  type AnsweredLayer,
  type BreakerState,
  EVENT_TYPES,
  type Event,
  type EventType,
  everyObserver,
  type Observer,
  observerOf,
} from './observe/events.ts'
