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

const WARM_UP = { us: 200_000, calls: 20_000 }
const RUN_US = 30_000
const RUNS = 5

/** Nanoseconds for a call, once it is compiled: the median of some runs. */
export function nsOf(call) {
  const start = ownCpu()
  for (let i = 0; i < WARM_UP.calls || ownCpu() - start < WARM_UP.us; i += 100) hundred(call)
  const runs = Array.from({ length: RUNS }, () => {
    const from = ownCpu()
    let calls = 0
    for (; ownCpu() - from < RUN_US; calls += 100) hundred(call)
    return ((ownCpu() - from) * 1_000) / calls
  })
  return runs.sort((a, b) => a - b)[RUNS >> 1]
}

function hundred(call) {
  for (let i = 0; i < 100; i++) call()
}
