import { AdmissionCount } from '../load/admission-count.ts'
import type { TimedAnswer } from '../load/answer.ts'
import { openLoop } from '../load/open-loop.ts'
import type { RuleWatch } from './rule-watch.ts'

const RATE = 20
/** For as long as anyone lets it run. */
const MOST_REQUESTS = 100_000

/** What was granted to one key that goes on asking. */
export interface HeldKey {
  /** Above the rule's bound, proved. */
  readonly over: number
  readonly wrongRefusals: number
  readonly failed: number
  /** Admissions that were decided without the store. */
  readonly degradedAdmissions: number
  readonly degraded: number
}

/**
 * Uses all that a new key may have, and asks for more, evenly, until it is stopped.
 * @param lost whether a failed request was to be expected
 */
export async function holdKey(
  watch: RuleWatch,
  signal: AbortSignal,
  lost: () => boolean = () => false,
): Promise<HeldKey> {
  const count = new AdmissionCount(watch.rule.bound)
  const key = watch.freshKey()
  const answers: Promise<TimedAnswer>[] = []
  let [failed, degraded, degradedAdmissions] = [0, 0, 0]
  const ask = async (): Promise<TimedAnswer> => {
    count.asking()
    const answer = await watch.ask(key)
    const { fate, policy = watch.rule.name } = answer
    count[fate === 'refused' && policy !== watch.rule.name ? 'failed' : fate](answer)
    if (fate === 'failed' && !lost()) failed++
    if (answer.degraded) degraded++
    if (answer.degraded && fate === 'admitted') degradedAdmissions++
    return answer
  }
  const atOnce = Math.min(watch.rule.atOnce, 100)
  await Promise.all(Array.from({ length: atOnce }, ask))
  await openLoop(evenly(), () => void answers.push(ask()), signal)
  await Promise.all(answers)
  return { over: count.overAtLeast, wrongRefusals: count.wrongRefusals, failed, degraded, degradedAdmissions }
}

function* evenly(): Generator<{ readonly at: number }> {
  for (let i = 0; i < MOST_REQUESTS; i++) yield { at: (i * 1_000) / RATE }
}
