import { pauseUntil } from '../open-loop.ts'
import { type Probe, untried } from './fault.ts'
import { admittedOf, exhaust, returnedIn, type Subject, spanOf } from './subject.ts'

/** Times the limit. */
const TIMES_ASKED = 4

const HEADERS: Readonly<Record<string, (address: string) => string>> = {
  'x-forwarded-for': (address) => address,
  forwarded: (address) => `for=${address}`,
  'x-real-ip': (address) => address,
}

export const forgedForwardedFor: Probe = {
  fault: 'forged-forwarded-for',
  async run(subject) {
    const found: string[] = []
    for (const [name, written] of Object.entries(HEADERS)) {
      const headersOf = (i: number): Record<string, string> => ({
        [name]: written(`10.9.${i >> 8}.${i & 255}`),
      })
      // A window may end in one of two tries, not in both.
      const both = [await getsMore(subject, headersOf), await laterGetsMore(subject, headersOf)]
      if (both.includes(undefined)) return untried('no request was refused')
      if (both.every(Boolean)) found.push(name)
    }
    if (found.length === 0)
      return { found: false, evidence: `${Object.keys(HEADERS).join(', ')} changed nothing` }
    return {
      found: true,
      evidence: `a refused client was admitted with another address in ${found.join(', ')}`,
    }
  },
}

async function laterGetsMore(...args: Parameters<typeof getsMore>): Promise<boolean | undefined> {
  const [{ stated, signal }] = args
  await pauseUntil(performance.now() + stated.periodMs / 3, signal)
  return getsMore(...args)
}

/** Whether a key that has used all is admitted when each request has another header. */
async function getsMore(
  subject: Subject,
  headersOf: (i: number) => Readonly<Record<string, string>>,
): Promise<boolean | undefined> {
  const key = subject.freshKey()
  const refusal = await exhaust(subject, key)
  if (refusal === undefined) return undefined
  const answers = await Promise.all(
    Array.from({ length: TIMES_ASKED * subject.stated.capacity }, (_, i) => subject.ask(key, headersOf(i))),
  )
  return admittedOf(answers).length > returnedIn(subject, spanOf([refusal, ...answers]))
}
