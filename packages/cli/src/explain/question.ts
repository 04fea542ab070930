import { type LooseQuestion, readLooseQuestion, WireError } from '@sluice/limiter/wire'
import { hintFor } from '../arguments.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Reads a question as `POST /v1/check` takes it; its domain may be left to the rulebook.
 * @param name what messages call the file
 * @throws UsageError that names the field
 */
export function questionFrom(json: string, name: string): LooseQuestion {
  try {
    return readLooseQuestion(JSON.parse(json))
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${name} is not JSON: ${error.message}`)
    throw error instanceof WireError ? new UsageError(`${name}: ${wireMessage(error)}`) : error
  }
}

/** The service's words, with the nearest right name behind an unknown one. */
function wireMessage({ message, unknown }: WireError): string {
  return unknown === undefined ? message : `${message}${hintFor(unknown.name, unknown.known)}`
}
