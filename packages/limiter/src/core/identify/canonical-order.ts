/**
 * Combining marks in a row, more than any language has. Engines sort them by insertion, so that they take the square
 * of the number: half a second for one value of 16,384 marks.
 */
const LONG_RUN = /[\p{M}\uff9e\uff9f]{33,}/gu
const FEW = /.{1,32}/gsu

/** One mark of each canonical combining class, lowest class first (Unicode 17; classes never change). */
const CLASSES = [
  ...'\u0334\u{16ff0}\u093c\u3099\u094d\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc',
  ...'\u05bd\u05bf\u05c1\u05c2\ufb1e\u064b\u064c\u064d\u0618\u0619\u061a\u0651\u0652\u0670\u0711\u0c55\u0c56\u0e38',
  ...'\u0e48\u0eb8\u0ec8\u0f71\u0f72\u0f74\u0321\u1dce\u031b\u1dfa\u0316\u059a\u302e\u{1d16d}\u05ae\u0300\u0315',
  ...'\u035c\u035d\u0345',
]

/** Marks whose class is known: no more than Unicode has. */
const classes = new Map<string, number>()

/**
 * An equivalent text (UAX #15) whose long runs of combining marks stand in their canonical order already, so that
 * `normalize` takes time in proportion to its length.
 */
export function inCanonicalOrder(text: string): string {
  return text.replace(LONG_RUN, (run) => sorted(run.replace(FEW, (few) => few.normalize('NFKD'))))
}

/** By class; marks of one class keep their order, and none crosses a character that has no class. */
function sorted(run: string): string {
  let text = ''
  let byClass: string[] = []
  const flush = (): void => {
    for (const marks of byClass) text += marks ?? ''
    byClass = []
  }
  for (const mark of run) {
    const own = classOf(mark)
    if (own > 0) byClass[own] = (byClass[own] ?? '') + mark
    else {
      flush()
      text += mark
    }
  }
  flush()
  return text
}

/** The class of a mark, as its position from 1; 0 for what no mark moves across. */
function classOf(mark: string): number {
  const known = classes.get(mark)
  if (known !== undefined) return known
  let below = 0
  for (let end = CLASSES.length; below < end; ) {
    const middle = (below + end) >> 1
    if (isAbove(mark, CLASSES[middle]!)) below = middle + 1
    else end = middle
  }
  const hasClass = below > 0 || mark === CLASSES[0] || isAbove(CLASSES.at(-1)!, mark)
  classes.set(mark, hasClass ? below + 1 : 0)
  return hasClass ? below + 1 : 0
}

/** Whether the first mark has a higher class than the second: then normalizing swaps them. */
function isAbove(mark: string, other: string): boolean {
  return mark !== other && (mark + other).normalize('NFD') === other + mark
}
