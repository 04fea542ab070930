import type { MessagePort } from 'node:worker_threads'
import { Job } from './job.ts'
import type { JobMessage, JobPlan } from './messages.ts'

/** Answers the messages of a port, each in its turn. */
export function serveJob(port: Pick<MessagePort, 'on' | 'postMessage'>, plan: JobPlan): void {
  const job = new Job(plan)
  port.on('message', (message: JobMessage) => {
    const { result, transfer } = job.answer(message)
    port.postMessage(result, transfer)
  })
}
