import type { IncomingMessage, ServerResponse } from 'node:http'
import { adapterSuite, served } from '@sluice/conformance'
import { describe, it } from 'vitest'
import { rateLimit } from './node.ts'

adapterSuite({ describe, it }, 'node:http', {
  header: ([request], name) => (request as IncomingMessage).headers[name] as string | undefined,
  listen(options, application) {
    const limits = options.map((each) => rateLimit(each))
    return served(async (request, response: ServerResponse) => {
      try {
        for (const limit of limits) if (!(await limit(request, response))) return
        const { status = 200, body = '' } = await application({ path: request.url!, info: request.rateLimit })
        response.writeHead(status).end(body)
      } catch {
        response.writeHead(500).end()
      }
    })
  },
})
