/** How busy the machine was with other work while a bench ran: a ratio measured beside it would mislead. */

import { readFileSync } from 'node:fs'
import { TICKS_PER_SECOND, treeCpuSeconds } from './processor-time.ts'

/** `otherCores`: cores that other processes kept busy. `stolen`: share of the time that the host gave to others. */
export type MachineLoad = { otherCores: number; stolen: number }

/** Above these, a bench prints no ratio. */
const MAX_OTHER_CORES = 0.2
const MAX_STOLEN = 0.02

type Sample = { at: number; busySeconds: number; stolenSeconds: number; allSeconds: number; ownSeconds: number }

/** Starts to watch the machine. The returned function says how busy it has been since. */
export function watchMachine(): () => MachineLoad {
  const start = sample()
  return () => {
    const end = sample()
    const change = (pick: (sample: Sample) => number): number => pick(end) - pick(start)
    const own = change(({ ownSeconds }) => ownSeconds)
    const others = Math.max(0, change(({ busySeconds }) => busySeconds) - own)
    return {
      otherCores:
        others /
        Math.max(
          1e-3,
          change(({ at }) => at),
        ),
      stolen:
        change(({ stolenSeconds }) => stolenSeconds) /
        Math.max(
          1e-3,
          change(({ allSeconds }) => allSeconds),
        ),
    }
  }
}

/** Whether the machine was quiet enough for a ratio. */
export function isQuiet({ otherCores, stolen }: MachineLoad): boolean {
  return otherCores <= MAX_OTHER_CORES && stolen <= MAX_STOLEN
}

export function describeLoad({ otherCores, stolen }: MachineLoad): string {
  return `other work used ${otherCores.toFixed(2)} cores, the host took ${(100 * stolen).toFixed(1)} %`
}

function sample(): Sample {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const seconds = line
    .split(/\s+/)
    .slice(1, 9)
    .map((ticks) => Number(ticks) / TICKS_PER_SECOND)
  // interrupts are left out, because the kernel does not charge them to the process that caused them
  const [user = 0, nice = 0, system = 0, , , , , stolenSeconds = 0] = seconds
  return {
    at: performance.now() / 1000,
    busySeconds: user + nice + system,
    stolenSeconds,
    allSeconds: seconds.reduce((sum, each) => sum + each, 0),
    ownSeconds: treeCpuSeconds(process.pid),
  }
}
