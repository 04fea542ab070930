/**
 * Runs every candidate once in each round, in turn, so that a machine whose speed drifts is fair to all; gives
 * the medians, how many times the first candidate's each is, and all figures in the order of the rounds.
 * @param candidates name → function that runs once and gives its figure
 */
export async function rounds(candidates, count = 5, warmUps = 1) {
  const figures = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (let round = -warmUps; round < count; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const figure = await run()
      if (round >= 0) figures.get(name).push(figure)
    }
  }
  return compared([...figures].map(([name, figures]) => ({ name, figures })))
}

/** Rows of figures with their medians, and how many times the first one's each is. */
export function compared(rows) {
  const medians = rows.map(({ figures }) => quantile(figures, 0.5))
  return rows.map((row, i) => ({ ...row, median: medians[i], times: medians[i] / medians[0] }))
}

export function quantile(figures, share) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length * share)]
}

/** @param unit what a figure counts */
export function print(title, unit, rows) {
  console.log(`\n${title} (Node ${process.versions.node})`)
  for (const { name, median, times } of rows) {
    console.log(
      `  ${name.padEnd(34)} ${median.toFixed(median < 100 ? 1 : 0).padStart(10)} ${unit}  ${times.toFixed(2)}x`,
    )
  }
}
