import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readAnswer } from './answer.ts'
import { mistakeIn } from './mistake.test-support.ts'
import { readProblem } from './problem.ts'
import { readBatch, readQuestion } from './question.ts'
import { readCancel, readCommit, readReserve } from './reservation.ts'
import { readReset } from './reset.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/http.md'), 'utf8')

const READERS: Readonly<Record<string, (body: unknown) => unknown>> = {
  check: readQuestion,
  'check/batch': (body) => readBatch(body).map((item) => readQuestion(item)),
  reserve: readReserve,
  commit: readCommit,
  cancel: readCancel,
  reset: readReset,
}

interface Sample {
  readonly call: string
  readonly body: unknown
  /** The JSON that the page shows as the answer. */
  readonly answer: string | undefined
}

/** Every `curl … -d BODY` of the page. */
function samples(): Sample[] {
  const blocks = [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language,
    text: text!,
  }))
  return blocks.flatMap(({ language, text }, i) => {
    if (language !== 'sh') return []
    const answer = blocks[i + 1]?.language === 'json' ? blocks[i + 1]!.text : undefined
    const calls = text.matchAll(/\/v1\/([a-z/]+)\S* .*?-d (['"])(.*?)(?<!\\)\2/gs)
    return [...calls].map(([, call, , body]) => ({
      call: call!,
      body: JSON.parse(body!.replaceAll('\\"', '"')),
      answer,
    }))
  })
}

const refused = ({ answer }: Sample): boolean => /"status": 400/.test(answer ?? '')

describe('docs/http.md', () => {
  test('shows a body of every call', () => {
    expect(new Set(samples().map(({ call }) => call))).toEqual(new Set(Object.keys(READERS)))
  })

  test.each(samples().filter((sample) => !refused(sample)))(
    'sends to $call what is read',
    ({ call, body }) => {
      expect(() => READERS[call]!(body)).not.toThrow()
    },
  )

  test.each(samples().filter(refused))('says what is wrong with $body', ({ call, body, answer }) => {
    expect(mistakeIn(() => READERS[call]!(body)).message).toBe(readProblem(JSON.parse(answer!)).detail)
  })

  test('shows an answer that is read', () => {
    expect(readAnswer(JSON.parse(samples()[0]!.answer!)).policy).toBe('login')
  })
})
