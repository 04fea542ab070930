import { remembered } from './remembered.ts'

/**
 * A header's name in lower case, for what would lower it anyway: a new text each time is looked up by its letters, one
 * that is the same each time by itself.
 */
export const lowered: (name: string) => string = remembered((name) => name.toLowerCase())
