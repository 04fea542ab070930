/** The algorithms, and what a new one needs: see docs/algorithms and CONTRIBUTING.md. */
export type {
  Algorithm,
  Cells,
  Plan,
  Reading,
  Recovery,
  StatePlan,
  Traits,
  Waits,
} from './core/decide/algorithm.ts'
export {
  type AlgorithmName,
  type AlgorithmSettings,
  algorithmOptions,
  algorithms,
  type OptionUse,
  optionErrors,
  type Policy,
  planOf,
  policyOf,
} from './core/decide/algorithms.ts'
export { type BlockOptions, type BlockPlan, blockPlan } from './core/decide/block/block.ts'
export {
  droppableAt,
  type Figures,
  figuresOf,
  instantOf,
  inUnits,
  type StatedFigures,
} from './core/decide/figures.ts'
export { parseCalendar } from './core/decide/fixed-window/calendar-text.ts'
export { wholeNumber } from './core/decide/integers.ts'
export type {
  ChoiceOption,
  NoOptions,
  Option,
  Options,
  OptionValues,
  WholeOption,
} from './core/decide/option.ts'
export type { BasePolicy, CalendarPeriod } from './core/decide/policy.ts'
