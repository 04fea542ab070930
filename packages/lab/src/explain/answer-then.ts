import { type RecordedAnswer, recordedAnswer } from '../traffic/formats/record.ts'
import type { LineOptions } from '../traffic/line-maker.ts'
import { ReadCounts } from '../traffic/read-source.ts'
import { readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import type { PastDecision, PastOptions } from './past-decisions.ts'

/** What was answered when it happened: all of it where the log is a record, else the response's status. */
export type AnswerThen = RecordedAnswer | { readonly status: number }

const LINE_FEED = 10

/**
 * What a log says was answered.
 * @param earlier requests before this one that are equal to it, at the same instant
 * @returns nothing where the log does not say
 * @throws LabError for traffic that cannot be read
 */
export async function answerThen(
  sources: readonly TrafficSource[],
  { rules: _rules, domain, descriptors: _descriptors, ...traffic }: PastOptions,
  { at, question }: PastDecision,
  earlier: number,
): Promise<AnswerThen | undefined> {
  const status = Number(question.request?.attributes?.status)
  if (status >= 100 && status < 600) return { status }
  const asked = JSON.stringify([question.request, question.descriptors, question.cost])
  const found: RecordedAnswer[] = []
  const options: LineOptions<{ readonly asked: string }> = {
    ...traffic,
    domain,
    make: (request, cost, recorded) => ({
      asked: JSON.stringify(recorded ? [undefined, recorded, cost] : [request, undefined, cost]),
    }),
    onLine(made, { at: instant, bytes, from }) {
      if (instant !== at || made.asked !== asked) return
      const answer = recordedAnswer(lineAround(bytes, Math.max(...from)))
      if (answer !== undefined) found.push(answer)
    },
  }
  for await (const _batch of readTraffic(sources, options, new ReadCounts())) {
    if (found.length > earlier) break
  }
  return found[earlier]
}

function lineAround(bytes: Buffer, place: number): string {
  const end = bytes.indexOf(LINE_FEED, place)
  return bytes.toString('utf8', bytes.lastIndexOf(LINE_FEED, place) + 1, end < 0 ? bytes.length : end)
}
