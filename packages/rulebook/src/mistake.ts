import { ConfigError } from '@sluice/limiter'

/** The right name nearest to a wrong one; looked for only where a problem shows it. */
export type Hint = () => string | undefined

/** Thrown by readers of values: what is wrong with it and, where one is near, the right name. */
export class FieldError extends Error {
  readonly #hint: Hint | undefined

  constructor(message: string, hint?: Hint) {
    super(message)
    this.#hint = hint
  }

  get hint(): string | undefined {
    return this.#hint?.()
  }
}

/** What the limiter refuses is a mistake in the file. @throws Mistake */
export function asFieldError<T>(read: () => T, hint?: Hint): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new FieldError(error.message, hint)
  }
}

/** A value as messages show it: quoted, and no longer than a line. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
