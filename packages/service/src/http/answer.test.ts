import { createPipeline, type Question } from '@sluice/limiter/pipeline'
import { compile } from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { type AnswerBody, answerOf, type PolicyBody } from '@sluice/limiter/wire'
import { loadText } from '@sluice/rulebook'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerText } from './answer.ts'
import { unasked } from './unasked.ts'

const RULES = `
domain: shop
limits:
  - { name: window, key: [user], limit: 3/minute, algorithm: fixed-window, when: { path: /window } }
  - { name: bucket, key: [user], limit: 3/second, when: { path: /bucket } }
  - { name: first, key: [user], limit: 3/minute, when: { path: /two } }
  - { name: 'quote " \\', key: [user], limit: 5/minute, when: { path: /two } }
  - { name: marked, key: [user], limit: 4/minute, soft: 50%, when: { path: /marked } }
  - { name: guarded, key: [user], limit: 1/minute, when: { path: /guarded }, block: { after: 1, within: 1m, for: 1h } }
  - { name: held, key: [user], limit: 2/minute, algorithm: concurrency, when: { path: /held } }
  - { name: shadow, key: [user], limit: 1/minute, mode: shadow, when: { path: /shadow } }
  - { name: low, key: [user], limit: 1/minute, on_limit: deprioritize, when: { path: /low } }
  - { name: needs, key: [user], limit: 1/minute, on_missing_key: deny, when: { path: /needs } }
`
const PATHS = ['window', 'bucket', 'two', 'marked', 'guarded', 'held', 'shadow', 'low', 'needs', 'nowhere']
const rules = compile(loadText(RULES))

/** Of an answer and of its policies: each is in some answer. */
const FIELDS: Readonly<Record<keyof AnswerBody | keyof PolicyBody, true>> = {
  policy: true,
  allowed: true,
  limit: true,
  remaining: true,
  retryAfterMs: true,
  moreAfterMs: true,
  resetAfterMs: true,
  delayMs: true,
  policies: true,
  passedOver: true,
  degraded: true,
  priority: true,
  status: true,
  reason: true,
  repeatableMs: true,
  leaseMs: true,
  headers: true,
  upstreamHeaders: true,
  windowSeconds: true,
  shadow: true,
  deprioritizes: true,
  soft: true,
  blocked: true,
  missingKey: true,
}

const questions = fc.record({
  path: fc.constantFrom(...PATHS),
  user: fc.constantFrom('ada', 'bob', undefined),
  cost: fc.nat(4),
  ms: fc.nat(40_000),
})

test('the text is the JSON of the answer, whatever the decision', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(questions, { maxLength: 40 }),
      fc.constantFrom('ietf' as const, [], ['draft-07', 'github'] as const),
      (asked, dialect) => {
        let now = 1_700_000_000_000
        const store = new MemoryStore({ clock: { now: () => now * 1_000 } })
        const pipeline = createPipeline({
          rules: () => rules,
          store,
          respond: { dialect },
          wallClock: () => now,
        })
        for (const { path, user, cost, ms } of asked) {
          now += ms
          const attributes = user === undefined ? {} : { user }
          const question: Question = { domain: 'shop', request: { path: `/${path}`, attributes }, cost }
          const reply = pipeline.check(question)
          const answer: AnswerBody = { ...answerOf(reply), ...unasked(reply.decision) }
          const text = answerText(reply)
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(answer)))
          expect(JSON.parse(answerText(reply, ',"id":null'))).toEqual({ ...JSON.parse(text), id: null })
          for (const name of [...Object.keys(answer), ...answer.policies.flatMap(Object.keys)]) seen.add(name)
        }
      },
    ),
    { seed: 1, numRuns: 200 }, // of so many, some have each field
  )
  expect([...seen].sort()).toEqual(Object.keys(FIELDS).sort())
})
