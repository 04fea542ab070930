import { pauseUntil } from '../open-loop.ts'
import { type Finding, type Probe, untried } from './fault.ts'
import { admittedOf, askAtOnce, refusedOf, returnedIn, type Subject, spanOf } from './subject.ts'

/** Times of a window; at one of them a window may end between the two questions. */
const KEYS = 3

export const remainingUntrue: Probe = {
  fault: 'remaining-untrue',
  async run(subject) {
    const tries = await Promise.all(Array.from({ length: KEYS }, (_, i) => compare(subject, i)))
    const stated = tries.filter(({ found }) => found !== undefined)
    if (stated.length === 0) return tries[0]!
    const untrue = stated.filter(({ found }) => found)
    return untrue.length > 1 ? untrue[0]! : { found: false, evidence: `true for ${stated.length} keys` }
  },
}

/** Asks once, and then for all that the answer says remains, and more. */
async function compare(subject: Subject, i: number): Promise<Pick<Finding, 'found' | 'evidence'>> {
  await pauseUntil(performance.now() + (subject.stated.periodMs * i) / KEYS, subject.signal)
  const key = subject.freshKey()
  const first = await subject.ask(key)
  const { remaining } = first
  if (remaining === undefined) return untried('answers do not say what remains')
  if (subject.signal.aborted || first.fate === 'failed') return untried('not answered')
  const asked = Math.min(remaining, 10_000) + 3
  const answers = await askAtOnce(subject, key, asked)
  if (answers.some(({ fate }) => fate === 'failed')) return untried('not all requests were answered')
  const admitted = admittedOf(answers).length
  const least = Math.min(remaining, asked)
  const most = remaining + returnedIn(subject, spanOf([first, ...answers]))
  const said = `said ${remaining} remain; of ${asked} more ${admitted} were admitted`
  if (admitted < least || admitted > most) return { found: true, evidence: said }
  const wrong = refusedOf(answers).find((answer) => (answer.remaining ?? 0) > 0)
  if (wrong !== undefined)
    return { found: true, evidence: `refused, and said that ${wrong.remaining} remain` }
  return { found: false, evidence: said }
}
