export type { AnswerBody, FiguresBody, PolicyBody } from './wire/answer.ts'
export { answerOf, decisionFrom, readAnswer, readBatchAnswer } from './wire/answer.ts'
export type { WireBounds } from './wire/bounds.ts'
export { WIRE_BOUNDS } from './wire/bounds.ts'
export type { UnknownField } from './wire/mistake.ts'
export { WireError } from './wire/mistake.ts'
export type { ProblemBody } from './wire/problem.ts'
export { readProblem } from './wire/problem.ts'
export { readNoQuery, readPeek } from './wire/query.ts'
export type {
  DescriptorBody,
  DescriptorLimitBody,
  LooseQuestion,
  QuestionBody,
  SubjectBody,
} from './wire/question.ts'
export { readBatch, readLooseQuestion, readQuestion } from './wire/question.ts'
export type {
  CancelBody,
  CommitBody,
  Reserve,
  ReserveAnswerBody,
  ReserveBody,
} from './wire/reservation.ts'
export { readCancel, readCommit, readReserve, readReserveAnswer } from './wire/reservation.ts'
export type { PolicyKey, ResetBody } from './wire/reset.ts'
export { readReset } from './wire/reset.ts'
