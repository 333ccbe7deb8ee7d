/** The minimum and maximum time between two probes of a name, from the settings. */

import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals } from '../apply/next-probe.ts'
import { CommandFault } from './command-fault.ts'
import { SETTINGS, type Settings } from './settings.ts'

/** Throws CommandFault if the minimum is longer than the maximum. */
export function probeIntervalsOf({ crawlMinInterval: min, crawlMaxInterval: max }: Settings): ProbeIntervals {
  if (min > max) {
    const { crawlMinInterval, crawlMaxInterval } = SETTINGS
    throw new CommandFault(
      `${crawlMinInterval.name} is longer than ${crawlMaxInterval.name}: decrease the first or increase the second`,
    )
  }
  return { min, first: Math.min(Math.max(DEFAULT_PROBE_INTERVALS.first, min), max), max }
}
