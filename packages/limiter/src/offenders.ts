/** Who is refused most often, and who comes most often: counted from the events, in memory that does not grow. */
export type { CountedKey, CountedRoute, KeyCounts } from './observe/offenders/key-counts.ts'
export {
  createOffenders,
  mergeOffenders,
  type OffenderList,
  type Offenders,
  type OffendersOptions,
  type OffendersQuery,
  offendersFields,
} from './observe/offenders/offenders.ts'
export { OFFENDER_WINDOWS, type OffenderWindow } from './observe/offenders/recent-counts.ts'
export { routeOf } from './observe/offenders/route.ts'
