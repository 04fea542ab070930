/** The program of one job: a thread. Its data are a {@link JobPlan}. */
import { parentPort, workerData } from 'node:worker_threads'
import { serveJob } from './serve-job.ts'

serveJob(parentPort!, workerData)
