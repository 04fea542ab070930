import type { Position } from '@sluice/limiter/errors'
import type { Domain } from '@sluice/limiter/rules'

/** What is said of a rule that is not exported, or that means something else there. */
export interface ExportNote {
  /** The rule's name. */
  readonly rule: string
  /** Whether the rule is in the text. */
  readonly exported: boolean
  /** Why it is not, or how its meaning differs, and by how much. */
  readonly message: string
  readonly source?: Position
}

/** A file for a proxy or firewall, and what it does not say. */
export interface Exported {
  readonly text: string
  readonly notes: readonly ExportNote[]
}

/** A program that can limit by itself. Pure: the same rules give the same text, byte for byte. */
export interface ExportTarget {
  /** Spellings of the text, of which the first is the default; absent: there is one. */
  readonly formats?: readonly string[]
  /** @param keys clients that each table holds */
  write(domain: Domain, keys: number, format: string | undefined): Exported
}
