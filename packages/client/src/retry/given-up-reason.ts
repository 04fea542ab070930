import type { ThrottledReason } from './throttled.ts'

/**
 * Why a failed call was not sent again: it was sent as often as it may, it may not be sent twice, the server says that
 * it is of no use, the budget of its origin is spent, the origin refuses too much, the wait would be too long, or too
 * many calls wait.
 */
export type GivenUpReason = 'tries' | 'call' | 'server' | 'budget' | ThrottledReason
