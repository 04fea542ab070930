/** A limited API for tests of clients: any limits, any dialect, any fault. Node alone. */
export type { MockArrival, MockCount, MockWindow } from './testing/mock-count.ts'
export type { MockDialect } from './testing/mock-dialects.ts'
export type { MockFaults, MockLie } from './testing/mock-faults.ts'
export type { MockCall, MockLimiter, MockOptions } from './testing/mock-options.ts'
export { type MockServer, startMock } from './testing/mock-server.ts'
