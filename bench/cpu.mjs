// CPU time, all threads of a process: microseconds.
import { readdirSync, readFileSync } from 'node:fs'

export function ownCpu() {
  const { user, system } = process.cpuUsage()
  return user + system
}

export function cpuOf(pid) {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // it has ended meanwhile
    }
  }
  return sum / 1_000
}
