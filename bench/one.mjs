// One candidate in one scenario, in a process of its own: prints its figures as a line of JSON. perf.mjs starts it.
process.on('SIGTERM', () => process.exit(1)) // so that its own programs end with it
const [subject, scenario, candidate] = process.argv.slice(2)
try {
  const { run } = await import(`./subjects/${subject}.mjs`)
  console.log(JSON.stringify(await run(scenario, candidate)))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
process.exit()
