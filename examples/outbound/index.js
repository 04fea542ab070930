import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { modelTokens, outbound } from '@sluice/client'
import { createPipeline } from '@sluice/limiter/pipeline'
import { compile } from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { loadRulebook } from '@sluice/rulebook'

const rules = compile(await loadRulebook([fileURLToPath(new URL('../outbound.yaml', import.meta.url))]))
// Several processes share the limits by a RedisStore.
const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore() })

// Stands for the paid API, and counts how many calls it has at once.
let now = 0
let most = 0
const api = createServer((_request, response) => {
  most = Math.max(most, ++now)
  setTimeout(() => {
    now--
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ usage: { total_tokens: 1_500 } }))
  }, 20)
})
await new Promise((resolve) => api.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${api.address().port}/v1/chat`

const limited = outbound(fetch, {
  destinations: [{ pipeline, key: () => process.env.API_KEY ?? 'none', ...modelTokens() }],
  maxWaitMs: 2_000,
})

const ask = async (question) => {
  const body = JSON.stringify({ max_tokens: 1_600, messages: [{ role: 'user', content: question }] })
  try {
    const answer = await limited(url, { method: 'POST', body })
    return (await answer.json()).usage.total_tokens
  } catch (error) {
    return error.name
  }
}

const answers = await Promise.all(Array.from({ length: 70 }, (_, i) => ask(`question ${i}`)))
const sent = answers.filter((answer) => typeof answer === 'number')
console.log(
  `${sent.length} calls were sent, at most ${most} at once, with ${sent.reduce((a, b) => a + b)} tokens`,
)
console.log(`${answers.filter((answer) => answer === 'Throttled').length} would have waited longer than 2 s`)
console.log(Object.values(limited.outbound.counts())[0].left)
api.close()
