export { type Dashboard, type DashboardOptions, dashboard } from './dashboard/dashboard.ts'
export type { FetchHandler } from './dashboard/fetch-handler.ts'
export type { NodeHandler } from './dashboard/node-handler.ts'
export { createInstruments, type Instruments, type InstrumentsOptions } from './instruments.ts'
