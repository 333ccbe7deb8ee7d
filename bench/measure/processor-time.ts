/** The processor time of other processes, from /proc. */

import { readdirSync, readFileSync } from 'node:fs'

/** Ticks per second of these counters on Linux. */
const TICKS_PER_SECOND = 100

/** Returns the seconds of processor time that a process has used so far, or 0 if the process is gone. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

/** Returns the process ids of the children of a process. */
export function childPids(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const file = `/proc/${pid}/task/${task}/children`
    return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
  })
}
