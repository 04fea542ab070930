import { setMaxListeners } from 'node:events'
import type { AdmissionBound } from '../admission-bound.ts'
import type { TimedAnswer } from '../answer.ts'
import type { LoadSender } from '../http-sender.ts'
import { pauseUntil } from '../open-loop.ts'
import type { SentRequest } from '../request-template.ts'

/** A limiter under test, of which only its limit is known. */
export interface Subject {
  /** As its owner states it. */
  readonly stated: AdmissionBound
  /** What it admits of a new key at once: measured, at least what is stated. */
  readonly atOnce: number
  /** A key that nobody has used. */
  freshKey(): string
  ask(key: string, headers?: Readonly<Record<string, string>>): Promise<TimedAnswer>
  /** Ends what waits. */
  readonly signal: AbortSignal
}

export interface SubjectOptions {
  readonly stated: AdmissionBound
  readonly request: (key: string) => SentRequest
  readonly sender: LoadSender
  /** A key that nobody has used, in this run or before. */
  readonly freshKey: () => string
  readonly signal: AbortSignal
}

export function subjectOf({ stated, request, sender, freshKey, signal }: SubjectOptions): Subject {
  setMaxListeners(0, signal) // each of many pauses listens
  return {
    stated,
    atOnce: stated.capacity,
    signal,
    freshKey,
    ask: (key, headers) => {
      const made = request(key)
      return sender.send(headers === undefined ? made : { ...made, headers: { ...made.headers, ...headers } })
    },
  }
}

/** Asks `count` times at once. */
export function askAtOnce(subject: Subject, key: string, count: number): Promise<TimedAnswer[]> {
  return Promise.all(Array.from({ length: count }, () => subject.ask(key)))
}

/** Uses all that a new key has. @returns the last refusal; `undefined` where there is none */
export async function exhaust(subject: Subject, key: string): Promise<TimedAnswer | undefined> {
  for (let tries = 0; tries < 3; tries++) {
    const refusals = refusedOf(await askAtOnce(subject, key, subject.atOnce + 5))
    const last = refusals.sort((a, b) => a.received - b.received).at(-1)
    if (last !== undefined) return last
  }
  return undefined
}

/** Asks every `everyMs` until an answer fits. @returns it, or `undefined` after `forMs` */
export async function askUntil(
  subject: Subject,
  key: string,
  fits: (answer: TimedAnswer) => boolean,
  { everyMs, forMs }: { readonly everyMs: number; readonly forMs: number },
): Promise<TimedAnswer | undefined> {
  const start = performance.now()
  for (let due = start; due - start < forMs && !subject.signal.aborted; ) {
    const answer = await subject.ask(key)
    if (fits(answer)) return answer
    due = Math.max(due + everyMs, performance.now())
    await pauseUntil(due, subject.signal)
  }
  return undefined
}

export function isAdmitted({ fate }: TimedAnswer): boolean {
  return fate === 'admitted'
}

export function admittedOf(answers: readonly TimedAnswer[]): TimedAnswer[] {
  return answers.filter(isAdmitted)
}

export function refusedOf(answers: readonly TimedAnswer[]): TimedAnswer[] {
  return answers.filter(({ fate }) => fate === 'refused')
}

/** Milliseconds from the first request to the last answer. */
export function spanOf(answers: readonly TimedAnswer[]): number {
  return Math.max(...answers.map(({ received }) => received)) - Math.min(...answers.map(({ sent }) => sent))
}

/** Units that come back in so many milliseconds, and one that may have been on its way. */
export function returnedIn({ stated: { limit, periodMs } }: Subject, ms: number): number {
  return (limit * ms) / periodMs + 1
}
