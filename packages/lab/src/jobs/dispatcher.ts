import type { TrafficBatch } from '../traffic/traffic-batch.ts'
import type { JobLine } from './job-line.ts'
import type { ReadRequest } from './messages.ts'
import type { SharedRequest } from './read-by-jobs.ts'
import { RowColumns } from './row-columns.ts'

/** Batches that wait for the jobs to decide them. */
const MOST_WAITING = 2
const FIRST_ROWS = 1 << 15

/** Sends the requests of each part to the job that decides them. */
export class Dispatcher {
  readonly #queues: JobQueue[]
  readonly #waiting: Promise<unknown>[] = []

  /** @param jobs one for each part @param mostKept different requests that a job keeps; then their numbers begin anew */
  constructor(jobs: readonly JobLine[], mostKept: number) {
    this.#queues = jobs.map((job) => new JobQueue(job, mostKept))
  }

  /** Resolves once so few wait that more may come. */
  async dispatch({ length, at, duration, made }: TrafficBatch<SharedRequest>): Promise<void> {
    for (let i = 0; i < length; i++) {
      const request = made[i]!
      this.#queues[request.part]!.add(request, at[i]!, duration[i]!)
    }
    const decided = Promise.all(this.#queues.map((queue) => queue.send()))
    decided.catch(() => undefined) // whoever awaits it, or the result, hears of it
    this.#waiting.push(decided)
    if (this.#waiting.length > MOST_WAITING) await this.#waiting.shift()
  }
}

/** What one job is to decide next. */
class JobQueue {
  readonly #job: JobLine
  readonly #mostKept: number
  readonly #rows = new RowColumns(FIRST_ROWS)
  #fresh: ReadRequest[] = []
  #kept = 0
  #round = 0
  #isAnew = false

  constructor(job: JobLine, mostKept: number) {
    this.#job = job
    this.#mostKept = mostKept
  }

  add(shared: SharedRequest, at: number, duration: number): void {
    if (shared.round !== this.#round) {
      shared.round = this.#round
      shared.id = this.#kept++
      const { request, cost, recorded } = shared
      this.#fresh.push({ request, cost, recorded })
    }
    this.#rows.add(at, duration, shared.id)
  }

  /** Resolves when they are decided. */
  async send(): Promise<void> {
    if (this.#rows.length === 0) return
    const rows = this.#rows.take()
    const message = { kind: 'decide', ...rows, isAnew: this.#isAnew, fresh: this.#fresh } as const
    this.#fresh = []
    this.#isAnew = this.#kept >= this.#mostKept
    if (this.#isAnew) {
      this.#kept = 0
      this.#round++
    }
    await this.#job.ask(message, [rows.at.buffer, rows.duration.buffer, rows.ids.buffer])
  }
}
