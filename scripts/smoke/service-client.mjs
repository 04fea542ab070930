// A use of the service client that every runtime can have: a \`fetch\` that answers as the service does, and one that fails.

/** What follows an import of \`createServiceClient\`; it throws where an answer is another. */
export const ASKED = `
  async function asked() {
    const figures = { limit: 1, moreAfterMs: 1000, resetAfterMs: 1000, delayMs: 0 }
    let calls = 0
    const fetch = async (url, { body }) => {
      calls++
      const answers = JSON.parse(body).map(({ domain }, i) => ({
        ...{ ...figures, policy: domain, allowed: i === 0, remaining: 0, retryAfterMs: i === 0 ? 0 : 1000 },
        ...{ policies: [], degraded: false, headers: {} },
      }))
      return new Response(JSON.stringify(answers), { headers: { 'content-type': 'application/json' } })
    }
    const options = { url: 'http://127.0.0.1:8080', domain: 'd' }
    const client = createServiceClient({ ...options, fetch })
    const answers = await Promise.all([1, 2].map(() => client.check({ request: { path: '/' } })))
    const down = createServiceClient({ ...options, fetch: () => Promise.reject(new TypeError('down')), onError: 'closed' })
    const { status, degraded } = await down.check({ request: {} })
    return [calls, ...answers.map(({ allowed }) => allowed), status, degraded].join()
  }
  asked().then((shown) => {
    if (shown !== '1,true,false,503,true') throw new Error(shown)
  })`
