import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type LoadOptions, RulebookError, type RulebookFiles } from '@sluice/rulebook'
import { LOAD_THREAD } from '../built.ts'
import type { ThreadAnswer } from './load-thread.ts'
import { type LoadedDomain, RuleAssembly, type RulePart, rulePartsOf } from './rule-parts.ts'

interface NewRules {
  readonly version: string
  readonly domains: readonly LoadedDomain[]
}

/** Makes rules of files. @throws RulebookError */
export type LoadRules = (files: RulebookFiles, options: LoadOptions) => Promise<NewRules>

/** In this thread: where no request waits. */
export const loadHere: LoadRules = async (files, options) => {
  const { version, parts } = rulePartsOf(files, options)
  const assembly = new RuleAssembly()
  for (const part of parts) assembly.add(part)
  return { version, domains: assembly.domains }
}

/** In a thread of its own, since thousands of rules take seconds; they are handed over a few at a time. */
export const loadInThread: LoadRules = async (files, options) => {
  const thread = new Worker(LOAD_THREAD, { workerData: { files, options }, execArgv: [] })
  thread.unref() // a service that has stopped need not wait for rules
  try {
    const answer = (await answerOf(thread)) as ThreadAnswer
    if ('problems' in answer) throw new RulebookError(answer.problems, answer.count)
    const assembly = new RuleAssembly()
    for (let known = 0; known < answer.count; ) {
      thread.postMessage(known)
      const parts = (await answerOf(thread)) as readonly RulePart[]
      for (const part of parts) assembly.add(part)
      known += parts.length
    }
    return { version: answer.version, domains: assembly.domains }
  } finally {
    await thread.terminate()
  }
}

/** What the thread says next. Rejects with the error that ended it. */
async function answerOf(thread: Worker): Promise<unknown> {
  const [answer] = await once(thread, 'message')
  return answer
}
