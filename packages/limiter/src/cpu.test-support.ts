import { existsSync, readFileSync } from 'node:fs'

const THREAD = '/proc/thread-self/schedstat'
const countsCpu = existsSync(THREAD)

/** Milliseconds of this thread alone, where the system tells: others use the machine too. */
export function cpuMs(): number {
  return countsCpu ? Number(readFileSync(THREAD, 'utf8').split(' ')[0]) / 1e6 : performance.now()
}
