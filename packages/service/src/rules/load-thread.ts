import { parentPort, workerData } from 'node:worker_threads'
import { type FileProblem, type LoadOptions, RulebookError, type RulebookFiles } from '@sluice/rulebook'
import { type RulePart, rulePartsOf } from './rule-parts.ts'

/** The first answer: what the files came to. */
export type ThreadAnswer =
  | { readonly version: string; readonly count: number }
  | { readonly problems: readonly FileProblem[]; readonly count: number }

/** Parts and problems that are handed over at once. */
export const MOST_AT_ONCE = 100

interface Work {
  readonly files: RulebookFiles
  readonly options: LoadOptions
}

/** The program of a thread that loads rules: whoever asks from a position on is sent the next parts. */
function answer({ files, options }: Work): void {
  try {
    const { version, parts } = rulePartsOf(files, options)
    parentPort!.on('message', (from: number): void => {
      const next: readonly RulePart[] = parts.slice(from, from + MOST_AT_ONCE)
      parentPort!.postMessage(next)
    })
    parentPort!.postMessage({ version, count: parts.length } satisfies ThreadAnswer)
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error
    const problems = error.problems.slice(0, MOST_AT_ONCE)
    parentPort!.postMessage({ problems, count: error.problems.length } satisfies ThreadAnswer)
  }
}

answer(workerData as Work)
