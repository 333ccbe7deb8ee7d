/** The rhythm of visits, as the settings say it. */

import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals } from '../apply/next-probe.ts'
import { CommandFault } from './command-fault.ts'
import { SETTINGS, type Settings } from './settings.ts'

/** Throws CommandFault where the least time between visits is longer than the most. */
export function probeIntervalsOf({ crawlMinInterval: soonest, crawlMaxInterval: latest }: Settings): ProbeIntervals {
  if (soonest > latest) {
    const { crawlMinInterval: crawlSoonest, crawlMaxInterval: crawlLatest } = SETTINGS
    throw new CommandFault(
      `${crawlSoonest.name} is longer than ${crawlLatest.name}: make it shorter, or the other longer`,
    )
  }
  return { min: soonest, first: Math.min(Math.max(DEFAULT_PROBE_INTERVALS.first, soonest), latest), max: latest }
}
