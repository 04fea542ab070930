/**
 * Runs every candidate once in each round, in turn, so that a machine whose speed drifts is fair to all; gives
 * the medians, and how many times the first candidate's each is.
 * @param candidates name → function that runs once and gives its figure
 */
export async function rounds(candidates, count = 5) {
  const figures = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (let round = 0; round <= count; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const figure = await run()
      if (round > 0) figures.get(name).push(figure) // the first round warms up
    }
  }
  const medians = [...figures].map(([name, all]) => [name, all.sort((a, b) => a - b)[all.length >> 1]])
  const [, first] = medians[0]
  return medians.map(([name, median]) => ({ name, median, times: median / first }))
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
