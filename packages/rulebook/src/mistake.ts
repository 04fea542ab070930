import { ConfigError } from '@sluice/limiter'

/** Thrown by readers of values: what is wrong with it and, where one is near, the right name. */
export class FieldError extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** What the limiter refuses is a mistake in the file. @throws Mistake */
export function asFieldError<T>(read: () => T, hint?: () => string | undefined): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new FieldError(error.message, hint?.())
  }
}

/** A value as messages show it: quoted, and no longer than a line. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
