import { type ExecutionContext, HttpException } from '@nestjs/common'
import type { Refusal } from '../gate/verdict/refusal.ts'
import { retryAfterOf, type Verdict } from '../gate/verdict/verdict.ts'
import { extensionsOf, type RefusalExtensions } from '../graphql/extensions.ts'

/** What is thrown, for the filters of its kind of application to answer with. */
export async function exceptionOf(
  context: ExecutionContext,
  refusal: Refusal,
  verdict: Verdict,
): Promise<Error> {
  switch (context.getType<string>()) {
    case 'graphql':
      return new GraphqlRefusal(refusal, retryAfterOf(verdict))
    case 'ws': {
      // Where there is a gateway, it is there.
      const { WsException } = await import('@nestjs/websockets')
      return new WsException(messageBody(refusal, retryAfterOf(verdict)))
    }
    default:
      return new HttpException(refusal.body as object, refusal.status)
  }
}

/** Filters know it as an HttpException, GraphQL servers by what they read of errors. */
class GraphqlRefusal extends HttpException {
  readonly extensions: RefusalExtensions
  /** The status of the whole response, where nothing else is in it, as Mercurius reads it. */
  readonly statusCode: number

  constructor({ body, status }: Refusal, retryAfter: number | undefined) {
    super(body as object, status)
    const { detail } = body as { readonly detail?: unknown }
    if (typeof detail === 'string') this.message = detail
    this.statusCode = status
    this.extensions = extensionsOf(status, retryAfter)
  }
}

/** A message has no headers to say when to come back. */
function messageBody({ body, type }: Refusal, retryAfter: number | undefined): string | object {
  if (type !== 'application/problem+json' || retryAfter === undefined) return body as string | object
  return { ...(body as object), retryAfter }
}
