import { StoreError } from '../../core/errors.ts'
import type { Call } from './call.ts'
import type { Send } from './client.ts'
import type { Script } from './script.ts'

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
  readonly #known = new Set<Script>()

  constructor(send: Send) {
    this.#send = send
  }

  /**
   * Runs a script and answers its integers.
   * @throws StoreError
   */
  run(call: Call, length: number): Promise<readonly number[]> {
    const read = (reply: unknown): readonly number[] => integersOf(reply, length)
    return this.sent(call).then(read, (cause: unknown) => this.sentAgain(call, cause).then(read))
  }

  /**
   * Runs a script and answers its texts.
   * @throws StoreError
   */
  async texts(call: Call, length: number): Promise<readonly string[]> {
    const reply = await this.sent(call).catch((cause: unknown) => this.sentAgain(call, cause))
    if (!Array.isArray(reply) || reply.length !== length) throw unexpected()
    return reply.map(String)
  }

  /** Runs a script; rejects with what the client says. */
  sent(call: Call): Promise<unknown> {
    const { script, command } = call
    const isKnown = this.#known.has(script)
    if (!isKnown) this.#known.add(script)
    try {
      return Promise.resolve(this.#send(isKnown ? command : whole(call), command[KEY] ?? ''))
    } catch (cause) {
      return Promise.reject(cause)
    }
  }

  /**
   * Only where the server has lost the script, and so cannot have run it, is it sent a second time: after any other
   * error a charge may have been made.
   * @throws StoreError
   */
  async sentAgain(call: Call, cause: unknown): Promise<unknown> {
    if (!isUnknownScript(cause)) throw failure(cause)
    return this.send(whole(call), call.command[KEY] ?? '')
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

/** Where in a command its first key is. */
const KEY = 3

/** The command with the script in place of its name. */
function whole({ script, command }: Call): string[] {
  return ['EVAL', script.text, ...command.slice(2)]
}

/** Integers near 2^53 come as text, and so do all of them where the client is set to that. */
export function integersOf(reply: unknown, length: number): readonly number[] {
  if (!Array.isArray(reply) || reply.length !== length) throw unexpected()
  for (let i = 0; i < length; i++) {
    if (typeof reply[i] !== 'number') reply[i] = Number(reply[i])
    if (!Number.isSafeInteger(reply[i])) throw unexpected()
  }
  return reply
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
