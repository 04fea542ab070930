import { WireError } from './mistake.ts'

/** What reading says of a mistake. @throws what is thrown in its place */
export function mistakeIn(read: () => unknown): Pick<WireError, 'message' | 'path' | 'unknown'> {
  try {
    read()
  } catch (error) {
    if (error instanceof WireError) return error
    throw error
  }
  throw new Error('there is no mistake')
}
