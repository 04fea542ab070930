import { ASKED } from './service-client.mjs'

// The packages without any framework, by file name.
export const corePrograms = {
  'esm.mjs': `
    import { createLimiter } from '@sluice/limiter'
    const limiter = createLimiter({ policies: { login: { algorithm: 'sliding-window-log', limit: 2, period: '1m' } } })
    const answers = [1, 2, 3].map(() => limiter.check('ada').allowed)
    if (answers.join() !== 'true,true,false') throw new Error(answers.join())`,
  'cjs.cjs': `
    const { createLimiter } = require('@sluice/limiter')
    const { MemoryStore } = require('@sluice/limiter/stores/memory')
    const limiter = createLimiter({ store: new MemoryStore(), policies: { all: { algorithm: 'gcra', limit: 1, period: 1000 } } })
    if (!limiter.check('k').allowed || limiter.check('k').allowed) throw new Error('one of two should pass')`,
  'rulebook.mjs': `
    import { loadText } from '@sluice/rulebook'
    const [domain] = loadText('domain: d\\nlimits: [{ name: n, key: [], limit: 5/minute }]\\n')
    if (domain.name !== 'd' || domain.limits[0].limit.limit !== 5) throw new Error(JSON.stringify(domain))`,
  'client.mjs': `
    import { createServiceClient } from '@sluice/client/service'
    ${ASKED}`,
  'client.cjs': `
    const { createServiceClient } = require('@sluice/client/service')
    ${ASKED}`,
  'service.mjs': `
    import { createService } from '@sluice/service'
    if (typeof createService !== 'function') throw new Error('no service')`,
}

export const coreTyped = `
  import { createServiceClient, type ServiceAnswer } from '@sluice/client/service'
  const client = createServiceClient({ url: 'http://127.0.0.1:8080', domain: 'shop' })
  export const answer: Promise<ServiceAnswer> = client.check({ request: { path: '/login' } })
  import { createLimiter, type Decision } from '@sluice/limiter'
  const limiter = createLimiter({ policies: { login: { algorithm: 'gcra', limit: 2, period: '1m' } } })
  const decision: Decision = limiter.check('ada', { cost: 1 })
  export const wait: number | null = decision.retryAfterMs`
