import { StoreError } from '../../core/errors.ts'
import type { Call } from './call.ts'
import type { Send } from './client.ts'

/** What a script answers in place of figures where no window of a calendar that it was sent holds the store's time. */
export const LOST = -2
/** The second call brings windows around the time that the first one answered. */
export const TRIES = 2

export function lost(): StoreError {
  return new StoreError('no window of a calendar around the time that Redis answered holds its time')
}

/** Sends commands, and turns what goes wrong into StoreError. */
export class Runner {
  readonly #send: Send
  /** Scripts that were sent as a whole. */
  readonly #known = new Set<string>()

  constructor(send: Send) {
    this.#send = send
  }

  /**
   * Runs a script and answers its integers. Only where the server has lost the script, and so cannot have run it,
   * is it sent a second time: after any other error a charge may have been made.
   * @throws StoreError
   */
  async run({ script, args }: Call, length: number): Promise<readonly number[]> {
    const key = args[1] ?? ''
    let reply: unknown
    try {
      const known = this.#known.has(script.sha)
      this.#known.add(script.sha)
      reply = await this.#send(known ? ['EVALSHA', script.sha, ...args] : ['EVAL', script.text, ...args], key)
    } catch (cause) {
      if (!isUnknownScript(cause)) throw failure(cause)
      reply = await this.tell(['EVAL', script.text, ...args], key)
    }
    if (!Array.isArray(reply) || reply.length !== length) {
      throw new StoreError('Redis answered what no script of ours does')
    }
    // Integers near 2^53 come as text, and so do all of them where the client was told so.
    for (let i = 0; i < length; i++) {
      if (typeof reply[i] !== 'number') reply[i] = Number(reply[i])
    }
    if (!reply.every(Number.isSafeInteger)) throw new StoreError('Redis answered what are no integers')
    return reply
  }

  /** @throws StoreError */
  async tell(args: string[], key: string): Promise<unknown> {
    try {
      return await this.#send(args, key)
    } catch (cause) {
      throw failure(cause)
    }
  }
}

function failure(cause: unknown): StoreError {
  return new StoreError(`Redis failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}

function isUnknownScript(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT')
}
