export type { AnswerLimits, StatedLimit } from './answers/answer-limits.ts'
export { type Answer, type ReadAnswerOptions, readAnswerLimits } from './answers/answer-reader.ts'
export type { HeaderSource } from './answers/header-source.ts'
