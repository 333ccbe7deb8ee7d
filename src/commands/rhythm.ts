/** The rhythm of visits, as the settings say it. */

import { RHYTHM, type Rhythm } from '../apply/due.ts'
import { SETTINGS, type Settings } from '../config.ts'
import { CommandFault } from './fault.ts'

/** Throws CommandFault where the least time between visits is longer than the most. */
export function rhythmOf({ crawlSoonest: soonest, crawlLatest: latest }: Settings): Rhythm {
  if (soonest > latest) {
    const { crawlSoonest, crawlLatest } = SETTINGS
    throw new CommandFault(
      `${crawlSoonest.name} is longer than ${crawlLatest.name}: make it shorter, or the other longer`,
    )
  }
  return { soonest, first: Math.min(Math.max(RHYTHM.first, soonest), latest), latest }
}
