import { StoreError } from '../../core/errors.ts'
import type { Send } from './client.ts'
import type { Script } from './script.ts'

/**
 * Runs a script and answers its integers. Only where the server does not know the script, and so cannot have run
 * it, is it sent a second time: after any other error a charge may have been made.
 * @throws StoreError
 */
export async function run(send: Send, script: Script, args: readonly string[], length: number): Promise<number[]> {
  const key = args[1] ?? ''
  let reply: unknown
  try {
    reply = await send(['EVALSHA', script.sha, ...args], key).catch((cause) => {
      if (!isUnknownScript(cause)) throw cause
      return send(['EVAL', script.text, ...args], key)
    })
  } catch (cause) {
    throw new StoreError(`Redis failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  if (!Array.isArray(reply) || reply.length !== length) throw new StoreError('Redis answered what no script of ours does')
  for (let i = 0; i < length; i++) {
    // Clients can be told to answer integers as text.
    if (typeof reply[i] !== 'number') reply[i] = Number(reply[i])
    if (!Number.isSafeInteger(reply[i])) throw new StoreError(`Redis answered no integers ${JSON.stringify(reply)} ${JSON.stringify(args)}`)
  }
  return reply
}

function isUnknownScript(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT')
}
