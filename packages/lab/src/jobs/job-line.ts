import { type TransferListItem, Worker } from 'node:worker_threads'
import { JOB_THREAD } from '../built.ts'
import { LabError } from '../lab-error.ts'
import type { JobMessage, JobPlan } from './messages.ts'

/** The other end of a job: a thread, or in tests a port within this one. */
export interface JobPort {
  postMessage(message: JobMessage, transfer: readonly TransferListItem[]): void
  on(event: 'message', listener: (answer: unknown) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
  /** Ends it at once. */
  terminate(): unknown
}

/** Starts a job. */
export type StartJob = (plan: JobPlan) => JobPort

/** A thread for a job. */
export const startThread: StartJob = (plan) => new Worker(JOB_THREAD, { workerData: plan })

interface Waiting {
  resolve(answer: unknown): void
  reject(error: unknown): void
}

/** What one job is asked; it answers in the order in which it is. */
export class JobLine {
  readonly #port: JobPort
  readonly #waiting: Waiting[] = []
  #error: unknown
  /** Blocks that it was given and has not parsed yet. */
  blocks = 0

  constructor(port: JobPort) {
    this.#port = port
    // An answer may come after the error that its job ended with.
    port.on('message', (answer) => this.#waiting.shift()?.resolve(answer))
    port.on('error', (error) => this.#fail(failureOf(error)))
    port.on('exit', (code) =>
      this.#fail(new LabError(`a thread ended before its work was done, with code ${code}`)),
    )
  }

  ask<Answer>(message: JobMessage, transfer: readonly TransferListItem[] = []): Promise<Answer> {
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.#error === undefined) this.#waiting.push({ resolve, reject })
      else reject(this.#error)
    })
    answer.catch(() => undefined) // whoever awaits it hears of it
    if (this.#error === undefined) this.#port.postMessage(message, transfer)
    return answer as Promise<Answer>
  }

  end(): void {
    this.#port.terminate()
  }

  #fail(error: unknown): void {
    this.#error ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

/** What the system refuses a thread is no fault of its program. */
function failureOf(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  return code?.startsWith('ERR_WORKER_')
    ? new LabError(`a thread cannot go on: ${message}; fewer threads need less memory`)
    : error
}
