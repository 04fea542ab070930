export { rulebookSchema } from './json-schema.ts'
export { type LoadOptions, loadRulebook, loadText, parseRulebook } from './load.ts'
export { type FileProblem, formatProblem, RulebookError } from './problem.ts'
export { type FileBytes, type ReadOptions, type RulebookFiles, readRulebook } from './read.ts'
