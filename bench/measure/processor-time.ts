/** The processor time of processes, from /proc. */

import { readdirSync, readFileSync } from 'node:fs'

/** Ticks per second of these counters on Linux. */
export const TICKS_PER_SECOND = 100

/** Returns the seconds of processor time that a process has used so far, or 0 if the process is gone. */
export function cpuSecondsOf(pid: number): number {
  return sumOfTicks(pid, 11, 13)
}

/** The same for a process, its descendants, and the children that they have waited for. */
export function treeCpuSeconds(pid: number): number {
  return childPids(pid).reduce((sum, child) => sum + treeCpuSeconds(child), sumOfTicks(pid, 11, 15))
}

/** Runs work in this process or in child processes that end with it. Returns its duration and its processor time. */
export async function timeWork<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; seconds: number; cpuSeconds: number }> {
  const ownCpuSeconds = (): number => sumOfTicks(process.pid, 11, 15)
  const [startedAt, before] = [performance.now(), ownCpuSeconds()]
  const result = await work()
  return { result, seconds: (performance.now() - startedAt) / 1000, cpuSeconds: ownCpuSeconds() - before }
}

/** Sums the fields of /proc/PID/stat from `from` to `to`, counted after the name: utime, stime, cutime, cstime. */
function sumOfTicks(pid: number, from: number, to: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(from, to).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

/** Returns the process ids of the descendants of a process whose command line contains a text. */
export function descendantsWithCommand(pid: number, text: string): number[] {
  return childPids(pid).flatMap((child) => [
    ...(commandLineOf(child).includes(text) ? [child] : []),
    ...descendantsWithCommand(child, text),
  ])
}

/** Returns the arguments of a process with NUL bytes between them, or an empty text if it is gone. */
function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the process ids of the children of a process, none if it is gone. */
export function childPids(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
      const file = `/proc/${pid}/task/${task}/children`
      return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
    })
  } catch {
    return []
  }
}
