import { createHash } from 'node:crypto'

/** Longest part of a name that an identifier repeats. */
const MOST = 24

/**
 * A rule's name as programs take it: `login`, `login_by_name_3f1c2a9b`. It depends on the name alone, so a rule that is
 * put before others does not rename theirs: nginx refuses to reload a zone of the same name with another key.
 */
export function identifierOf(name: string): string {
  if (new RegExp(`^[a-z][a-z0-9_]{0,${MOST - 1}}$`).test(name)) return name
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .replace(/^(?![a-z])/, 'r') // a name begins with a letter in nftables
    .slice(0, MOST)
  return `${readable}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}
