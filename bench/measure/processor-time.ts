/** The processor time of processes that are watched from outside, from the system's own books. */

import { readdirSync, readFileSync } from 'node:fs'

/** Ticks a second in which Linux keeps these books. */
const TICKS = 100

/** Seconds of processor time that a process has used so far; 0 where it is gone. */
export function processorSeconds(process: number): number {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  } catch {
    return 0
  }
}

/** The children of a process. */
export function childrenOf(process: number): number[] {
  return readdirSync(`/proc/${process}/task`).flatMap((task) => {
    const file = `/proc/${process}/task/${task}/children`
    return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
  })
}
