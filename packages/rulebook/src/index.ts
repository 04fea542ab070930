export { rulebookSchema } from './json-schema.ts'
export { type LoadOptions, loadRulebook, loadText } from './load.ts'
export { formatProblem, type Problem, RulebookError } from './problem.ts'
