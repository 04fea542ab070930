/** Events and calls of stores at the channels of `node:diagnostics_channel`. */
export { diagnostics, type TracedCall, tracedStore } from './observe/channels.ts'
export { type AroundCall, type StoreCall, storeAround } from './observe/store-around.ts'
