import { describe, expect, it } from 'vitest'
import type { Decision } from '../core/decide/decision.ts'
import { compile } from '../core/match/compile.ts'
import type { Limit } from '../core/match/domain.ts'
import { limit } from '../core/match/limit.samples.ts'
import { createPipeline, type Reply } from '../pipeline.ts'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { type AnswerBody, answerOf, decisionFrom, readAnswer, readBatchAnswer } from './answer.ts'
import { mistakeIn } from './mistake.test-support.ts'
import { readProblem } from './problem.ts'

type Own = Partial<Limit> & Pick<Limit, 'name' | 'limit'>

/** The replies to as many requests of one address. */
function replies(count: number, ...limits: Own[]): Reply[] {
  const clock = new FakeClock()
  const rules = compile([
    { name: 'shop', descriptors: [], limits: limits.map((own) => limit({ key: ['ip'], ...own })) },
  ])
  const pipeline = createPipeline<false>({
    rules: () => rules,
    store: new MemoryStore({ clock }),
    wallClock: () => 0,
  })
  const question = { domain: 'shop', request: { ip: '192.0.2.1' } }
  return Array.from({ length: count }, () => pipeline.check(question))
}

/** A decision without what never leaves the process. */
function sent(decision: Decision): unknown {
  return JSON.parse(JSON.stringify(decision))
}

const once: Own = { name: 'once', limit: { limit: 1, period: '1m' } }

describe('an answer', () => {
  it.each<[string, Own[]]>([
    ['one policy', [once]],
    ['several, of which one only reports', [once, { ...once, name: 'shadow', mode: 'shadow' }]],
    ['a limit that only asks to be served last', [{ ...once, onLimit: 'deprioritize' }]],
    ['a limit of nothing', [{ name: 'closed', limit: { limit: 0, period: '1m' } }]],
  ])('of %s is written, sent and read without loss', (_name, limits) => {
    for (const reply of replies(2, ...limits)) {
      const answer = readAnswer(JSON.parse(JSON.stringify(answerOf(reply))))
      expect(sent(decisionFrom(answer))).toEqual(sent(reply.decision))
      expect(Object.entries(answer.headers)).toEqual(
        reply.response.headers.filter(([name]) => name !== 'Content-Type'),
      )
    }
  })

  it('has no limit where none applied', () => {
    const [reply] = replies(1)
    const answer = answerOf(reply!)
    expect(answer).toMatchObject({ policy: '', limit: null, remaining: null, policies: [] })
    expect(decisionFrom(answer)).toMatchObject({
      limit: Number.POSITIVE_INFINITY,
      remaining: Number.POSITIVE_INFINITY,
    })
  })

  it('carries no receipt, and its priority only where there is one', () => {
    const [first, second] = replies(2, { ...once, onLimit: 'deprioritize' })
    expect(Object.getOwnPropertySymbols(answerOf(first!))).toEqual([])
    expect(answerOf(first!)).not.toHaveProperty('priority')
    expect(answerOf(first!)).not.toHaveProperty('upstreamHeaders')
    expect(answerOf(second!)).toMatchObject({
      priority: 'low',
      upstreamHeaders: { 'Sluice-Priority': 'low' },
      policies: [{ deprioritizes: true }],
    })
  })

  it('says what is not known, and what has no limit, each in its own way', () => {
    const answer = answerOf(replies(1, once)[0]!)
    const limit = Number.POSITIVE_INFINITY
    expect(decisionFrom({ ...answer, limit: null, remaining: null })).toMatchObject({
      limit,
      remaining: limit,
    })
    const unknown = { limit: 5, remaining: null, degraded: true }
    const stated = { ...answer, ...unknown, policies: [{ ...answer.policies[0]!, ...unknown }] }
    expect(decisionFrom(readAnswer(stated))).toMatchObject({ ...unknown, policies: [unknown] })
  })

  it('may have fields of a later version, at any depth', () => {
    const answer = answerOf(replies(1, once)[0]!)
    const later = {
      ...answer,
      region: 'eu',
      policies: answer.policies.map((policy) => ({ ...policy, colour: [1] })),
    }
    expect(readAnswer(later)).toBe(later)
  })
})

describe('an answer with a mistake', () => {
  const whole = answerOf(replies(1, once)[0]!)
  const { allowed: _, ...undecided } = whole
  const inPolicy = (more: object): object => ({ ...whole, policies: [{ ...whole.policies[0], ...more }] })

  it.each<[unknown, string, string]>([
    [undefined, '', 'the answer must be an object'],
    [[whole], '', 'the answer must be an object'],
    [undecided, 'allowed', 'allowed is missing'],
    [{ ...whole, allowed: 1 }, 'allowed', 'allowed must be true or false'],
    [{ ...whole, remaining: '4' }, 'remaining', 'remaining must be a number or null'],
    [{ ...whole, limit: Number.NaN }, 'limit', 'limit must be a number or null'],
    [{ ...whole, delayMs: null }, 'delayMs', 'delayMs must be a number'],
    [{ ...whole, policy: null }, 'policy', 'policy must be text'],
    [{ ...whole, priority: 'high' }, 'priority', 'priority must be "low"'],
    [{ ...whole, policies: {} }, 'policies', 'policies must be a list'],
    [{ ...whole, headers: [] }, 'headers', 'headers must be an object'],
    [{ ...whole, headers: { a: 1 } }, 'headers.a', 'headers.a must be text'],
    [inPolicy({ shadow: false }), 'policies[0].shadow', 'policies[0].shadow must be true'],
    [
      inPolicy({ windowSeconds: '1' }),
      'policies[0].windowSeconds',
      'policies[0].windowSeconds must be a number',
    ],
  ])('such as %j says where and what', (body, path, message) => {
    expect(mistakeIn(() => readAnswer(body))).toMatchObject({ path, message })
  })
})

describe('the answer to a batch', () => {
  const answer: AnswerBody = answerOf(replies(1, once)[0]!)
  const problem = { type: 'about:blank', title: 'Not Found', status: 404, detail: 'no rules are loaded' }

  it('has an answer or a problem for each request', () => {
    expect(readBatchAnswer([answer, problem])).toEqual([answer, problem])
    expect(readProblem({ ...problem, instance: '/1' })).toMatchObject(problem)
  })

  it.each<[unknown, string]>([
    [answer, 'the answer must be a list'],
    [[answer, null], '[1] must be an object'],
    [[{ ...answer, status: 404 }], '[0].status must be 403 or 429 or 503'],
    [[{ ...problem, status: '404' }], '[0].status must be a number'],
  ])('such as %j has a mistake', (body, message) => {
    expect(mistakeIn(() => readBatchAnswer(body)).message).toBe(message)
  })
})
