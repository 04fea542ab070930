/** What decisions are made of: rules, steps, runs. For stores, transports and tools made by others. */
export {
  type ActualCost,
  actualCostOf,
  bindingStep,
  chargesOf,
} from './core/decide/charges.ts'
export { admitted, binding } from './core/decide/combine.ts'
export { type CostByName, checkedCost, isCost } from './core/decide/cost.ts'
export {
  type Decision,
  decisionOf,
  type PolicyFigures,
  type Receipt,
  receiptOf,
} from './core/decide/decision.ts'
export { LoadedStates, type StateRef, statesOf } from './core/decide/loaded-states.ts'
export { chargedAt, type Outcome } from './core/decide/outcome.ts'
export { canRefuse, type Role } from './core/decide/role.ts'
export {
  type OnLimit,
  type OnStoreError,
  type Rule,
  type RuleOptions,
  ruleErrors,
  ruleOf,
  tarpitCheck,
  tarpitOf,
} from './core/decide/rule.ts'
export {
  block,
  type Charge,
  correct,
  NO_CELLS,
  newSlot,
  run,
  type Slot,
  type States,
  withRoom,
} from './core/decide/run.ts'
export { shareOf } from './core/decide/share.ts'
export { holdsSlots, type StateName, type Step, stateText } from './core/decide/step.ts'
export { createEngine, type Engine, type Reserved } from './engine.ts'
