export type { AnswerLimits, StatedLimit } from './answers/answer-limits.ts'
