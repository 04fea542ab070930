// The true counts of CI: `node scripts/counts.mjs vitest.json smoke.json`. The names of what failed come first, at the
// end of the output, where a log that was cut still has them.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const read = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}
const [tests, smoke] = process.argv.slice(2).map(read)

const files = tests.testResults ?? []
for (const { name, status, message, assertionResults } of files) {
  const failed = assertionResults.filter((test) => test.status === 'failed')
  for (const { fullName, failureMessages } of failed) report(name, fullName, failureMessages[0])
  if (failed.length === 0 && status === 'failed') report(name, 'does not run', message)
}

const passed = (tests.numPassedTests ?? 0) + (smoke.passed ?? 0)
const failed = (tests.numFailedTests || tests.numFailedTestSuites || 0) + (smoke.failed ?? 0)
const minutes = ({ startTime, endTime }) => (endTime - startTime) / 60_000
const slowest = files.toSorted((a, b) => minutes(b) - minutes(a)).slice(0, 20)
const named = slowest.map((file) => `${relative('.', file.name)} ${minutes(file).toFixed(1)} min`)
console.log(`slowest: ${named.join(', ')}`)
console.log(`tests: ${passed} passed, ${failed} failed`)
process.exitCode = passed === 0 || failed > 0 ? 1 : 0

function report(file, test, message = '') {
  console.log(`failed: ${relative('.', file)}: ${test}: ${message.slice(0, 500)}`)
}
