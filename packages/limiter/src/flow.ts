/** Calls that wait for limits: what queues are made of, for those who wait in a way of their own. */
export { type Foreseen, foresee } from './flow/foreseen.ts'
export { type Held, type Judge, TurnQueue, type TurnQueueOptions } from './flow/turn-queue.ts'
export {
  checkedPriority,
  type KnownWait,
  QueueFull,
  type Stage,
  type TurnRefusal,
  Waiter,
  type WaiterTurns,
} from './flow/waiter.ts'
