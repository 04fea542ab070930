import type { Cells } from '../../core/decide/algorithm.ts'

/** Integers of a run that may be kept inline. */
const LONGEST_INLINE = 8
/** Integers of state in a slot that holds a run. */
export const INLINE_SIZE = 3

/** What an integer of a run is, in two bits. */
const [ZERO, ONE, FIRST, OTHER] = [0, 1, 2, 3]
const BITS = 2
const LENGTH = 2 ** (BITS * LONGEST_INLINE)

/**
 * A short run as three integers: its first, a code, and one more that the code refers to. The integers of a log of one
 * entry, or of one lease, are 0, 1, the first (the last admission), and one other.
 * @returns whether it was; else nothing is written
 */
export function writeInline(run: Cells, cells: Cells, offset: number): boolean {
  const { length } = run
  if (length > LONGEST_INLINE) return false
  const first = run[0]!
  let other = 0
  let code = length * LENGTH
  for (let i = 1; i < length; i++) {
    const value = run[i]!
    let kind = OTHER
    if (value === 0) kind = ZERO
    else if (value === 1) kind = ONE
    else if (value === first) kind = FIRST
    else if (other === 0) other = value
    else if (value !== other) return false
    code += kind << (BITS * i)
  }
  cells[offset] = first
  cells[offset + 1] = code
  cells[offset + 2] = other
  return true
}

/** The length of the run that a code stands for. */
export function inlineLength(code: number): number {
  return Math.floor(code / LENGTH)
}

export function readInline(cells: Cells, offset: number, run: Cells): void {
  const first = cells[offset]!
  const code = cells[offset + 1]!
  const other = cells[offset + 2]!
  run[0] = first
  for (let i = 1; i < run.length; i++) {
    const kind = (code >> (BITS * i)) & OTHER
    run[i] = kind === ZERO ? 0 : kind === ONE ? 1 : kind === FIRST ? first : other
  }
}
