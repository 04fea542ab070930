import type { CompileOptions } from '@sluice/limiter/rules'
import type { LineOptions } from '../traffic/line-maker.ts'
import type { ReadCounts } from '../traffic/read-source.ts'
import { readInOrder, readTraffic } from '../traffic/read-traffic.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { Dispatcher } from './dispatcher.ts'
import { JobLine, type StartJob, startThread } from './job-line.ts'
import type { JobPlan, StudyPlan } from './messages.ts'
import { partingOf } from './parting.ts'
import { readByJobs } from './read-by-jobs.ts'
import type { Study } from './study.ts'
import { domainsOf } from './study-of.ts'

/** How the work is shared among threads. */
export interface JobOptions {
  /** Threads, at least 1; 1: it is done here. */
  readonly count: number
  /** What the rules were compiled with. */
  readonly compile?: CompileOptions | undefined
}

/** How jobs run; tests choose other ways. */
export interface JobWays {
  readonly start: StartJob
  readonly blockBytes: number
  /** Different requests that a job keeps. */
  readonly mostKept: number
}

const THREADS: JobWays = { start: startThread, blockBytes: 1 << 20, mostKept: 1 << 18 }

/** Options of reading, beside what is made of a request. */
export type StudyLines = Omit<LineOptions<object>, 'make' | 'onLine'>

/** Puts all requests of logs through a study. @throws LabError for traffic that cannot be read */
export async function runStudy<Made extends object, Result>(
  study: Study<Made, Result>,
  sources: readonly TrafficSource[],
  lines: StudyLines,
  counts: ReadCounts,
): Promise<Result> {
  const options: LineOptions<Made> = { ...lines, make: (...asked) => study.match(...asked) }
  for await (const { length, at, duration, made } of readTraffic(sources, options, counts)) {
    for (let i = 0; i < length; i++) study.decide(made[i]!, at[i]!, duration[i]!)
  }
  return study.result()
}

/**
 * The same in several threads: each parses its share of the lines, and decides the requests of its part of the keys; where
 * keys cannot be parted, one decides all.
 * @param study only looks at the first requests of each log
 * @returns of each part what came of it
 */
export async function runInJobs<Result>(
  study: Study<object, Result>,
  plan: StudyPlan,
  sources: readonly TrafficSource[],
  lines: StudyLines,
  counts: ReadCounts,
  { count, compile = {} }: JobOptions,
  { start, blockBytes, mostKept }: JobWays = THREADS,
): Promise<Result[]> {
  const parts = partingOf(domainsOf(plan), count) === undefined ? 1 : count
  const { format, fields, cost, domain, wanted } = lines
  const jobPlan: JobPlan = { study: plan, compile, lines: { format, fields, cost, domain, wanted }, parts }
  const jobs = Array.from({ length: count }, () => new JobLine(start(jobPlan)))
  try {
    const dispatcher = new Dispatcher(jobs.slice(0, parts), mostKept)
    const options: LineOptions<object> = { ...lines, make: (...asked) => study.match(...asked) }
    let opened = 0
    const batches = readInOrder(sources, options, counts, (source, file) =>
      readByJobs(source, opened++, jobs, options, counts, file, blockBytes),
    )
    for await (const batch of batches) await dispatcher.dispatch(batch)
    return await Promise.all(jobs.slice(0, parts).map((job) => job.ask<Result>({ kind: 'finish' })))
  } finally {
    for (const job of jobs) job.end()
  }
}
