/** The names of the simulation. They are in few slot ranges, so that the crawlers compete for them. */

import { simulatedNameAt } from '../../bench/crawl-simulation/network.ts'
import { type DomainName, SLOT_RANGES, SLOTS_PER_RANGE, slotOf } from '../../src/values/domain-name.ts'

const NAMES = 40
/** The ranges 0 to 7. */
export const CRAWLED_RANGES = 8

export const rangeOf = (name: DomainName): number => Math.floor(slotOf(name) / SLOTS_PER_RANGE)

export const CRAWLED_NAMES: readonly DomainName[] = Array.from(
  { length: (3 * NAMES * SLOT_RANGES) / CRAWLED_RANGES },
  (_, index) => simulatedNameAt(index),
)
  .filter((name) => rangeOf(name) < CRAWLED_RANGES)
  .slice(0, NAMES)
