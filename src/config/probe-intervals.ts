/** The minimum and maximum time between two probes of a name, from the settings. */

import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals } from '../apply/next-probe.ts'
import { CommandFault } from './command-fault.ts'
import { SETTINGS, type Settings } from './settings.ts'

/** Throws CommandFault if the minimum is longer than the maximum. */
export function probeIntervalsOf({ crawlMinInterval, crawlMaxInterval }: Settings): ProbeIntervals {
  if (crawlMinInterval > crawlMaxInterval) {
    const [minName, maxName] = [SETTINGS.crawlMinInterval.name, SETTINGS.crawlMaxInterval.name]
    throw new CommandFault(`${minName} is longer than ${maxName}: decrease the first or increase the second`)
  }
  return {
    min: crawlMinInterval,
    first: Math.min(Math.max(DEFAULT_PROBE_INTERVALS.first, crawlMinInterval), crawlMaxInterval),
    max: crawlMaxInterval,
  }
}
