import { type Difference, parseVectors, runVectors } from '@sluice/conformance'
import { ConfigError } from '@sluice/limiter'
import { type Command, defineCommand } from '../command.ts'
import { readText } from '../input.ts'
import type { Io } from '../io.ts'
import { printable } from '../printable.ts'
import { openStore, STORE_HELP, STORE_NOTES, storeUrl } from '../stores.ts'
import { UsageError } from '../usage-error.ts'

const MAX_VECTORS_BYTES = 64 * 1_048_576
const MOST_DIFFERENCES = 10

/** Runs files of vectors against a store. */
export const conform: Command = defineCommand({
  name: 'conform',
  summary: 'runs files of worked decisions (sluice-vectors/1) against a store',
  operands: 'FILE…',
  options: { store: { type: 'string', value: 'URL', help: STORE_HELP } },
  notes: `The times in the files take the place of the store's clock, for this run alone; its keys are removed at
the end. Exit 1 when any figure differs.

${STORE_NOTES}`,
  async run(paths, values, io) {
    if (paths.length === 0) throw new UsageError('name at least one file of vectors')
    const store = await storeUrl(values.store, io)
    const files = new Map<string, ReturnType<typeof parseVectors>>()
    for (const path of paths) files.set(path, await readVectors(path, io))

    let passed = 0
    let failed = 0
    const shown: string[] = []
    for (const [path, vectors] of files) {
      const report = await runVectors(vectors, (clock) => openStore(store, clock))
      passed += report.passed
      failed += report.failed
      for (const difference of report.differences) shown.push(differenceText(path, difference))
    }
    io.stdout.write([...shown.slice(0, MOST_DIFFERENCES), `${passed} passed, ${failed} failed\n`].join('\n'))
    return failed === 0 ? 0 : 1
  },
})

async function readVectors(path: string, io: Io): Promise<ReturnType<typeof parseVectors>> {
  const text = await readText(path, MAX_VECTORS_BYTES, io)
  try {
    return parseVectors(text)
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(`${path}: ${error.message}`)
    throw error
  }
}

function differenceText(path: string, { scenario, step, expected, actual }: Difference): string {
  return [
    `${path}: ${printable(scenario)}, step ${step}`,
    `  expected ${JSON.stringify(expected)}`,
    `  actual   ${JSON.stringify(actual)}`,
  ].join('\n')
}
