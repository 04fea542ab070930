export { rulebookSchema } from './json-schema.ts'
export { type LoadOptions, loadRulebook, loadText } from './load.ts'
export { type FileProblem, formatProblem, RulebookError } from './problem.ts'
