import { StoreError } from '../../core/errors.ts'
import type { Call } from './call.ts'
import type { Send } from './client.ts'

/** What a script answers in place of figures where no window of a calendar that it was sent holds the store's time. */
export const NO_WINDOW = -2
/** The second call brings windows around the time that the first one answered. */
export const TRIES = 2

export function noWindowError(): StoreError {
  return new StoreError('calendar window could not be determined: server and client clocks differ too much')
}

/** Sends commands, and turns what goes wrong into StoreError. */
export class ScriptRunner {
  readonly #send: Send
  /** Scripts that were sent as a whole. */
  readonly #known = new Set<string>()

  constructor(send: Send) {
    this.#send = send
  }

  /**
   * Runs a script and answers its integers.
   * @throws StoreError
   */
  async run(call: Call, length: number): Promise<readonly number[]> {
    let reply: unknown
    try {
      reply = await this.#sent(call)
    } catch (cause) {
      reply = await this.#sentAgain(call, cause)
    }
    if (!Array.isArray(reply) || reply.length !== length) throw unexpected()
    // Integers near 2^53 come as text, and so do all of them where the client is set to that.
    for (let i = 0; i < length; i++) {
      if (typeof reply[i] !== 'number') reply[i] = Number(reply[i])
    }
    if (!reply.every(Number.isSafeInteger)) throw unexpected()
    return reply as number[]
  }

  /**
   * Runs a script and answers its texts.
   * @throws StoreError
   */
  async texts(call: Call, length: number): Promise<readonly string[]> {
    const reply = await this.#sent(call).catch((cause: unknown) => this.#sentAgain(call, cause))
    if (!Array.isArray(reply) || reply.length !== length) throw unexpected()
    return reply.map(String)
  }

  #sent({ script, args }: Call): Promise<unknown> {
    const known = this.#known.has(script.sha)
    this.#known.add(script.sha)
    return this.#send(
      known ? ['EVALSHA', script.sha, ...args] : ['EVAL', script.text, ...args],
      args[1] ?? '',
    )
  }

  /**
   * Only where the server has lost the script, and so cannot have run it, is it sent a second time: after any other
   * error a charge may have been made.
   */
  #sentAgain({ script, args }: Call, cause: unknown): Promise<unknown> {
    if (!isUnknownScript(cause)) throw failure(cause)
    return this.send(['EVAL', script.text, ...args], args[1] ?? '')
  }

  /** @throws StoreError */
  async send(args: string[], key: string): Promise<unknown> {
    try {
      return await this.#send(args, key)
    } catch (cause) {
      throw failure(cause)
    }
  }
}

function unexpected(): StoreError {
  return new StoreError('unexpected reply from a Redis script')
}

function failure(cause: unknown): StoreError {
  return new StoreError(`Redis failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}

function isUnknownScript(cause: unknown): boolean {
  // Valkey GLIDE writes it in its own words.
  return cause instanceof Error && /^NOSCRIPT|- NoScriptError:/.test(cause.message)
}
