import { bearerToken } from '@sluice/observe/parts'
import type { App } from '../app.ts'
import { HttpError } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Is answered without the token: it says nothing about keys and rules, and changes nothing. */
    readonly open?: true
  }
}

/** Answers calls only with `authorization: Bearer TOKEN`, but for those that are open. */
export function requireToken(app: App, token: string): void {
  const brings = bearerToken(token)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.open === true || brings(request.headers.authorization)) return done()
    reply.header('WWW-Authenticate', 'Bearer')
    done(new HttpError(401, 'the admin address asks for a token: authorization: Bearer TOKEN'))
  })
}
