/** The crawl of a list: each name is visited, what was seen is counted and written, and the place in the list follows. */

import type { Crawler } from '../../crawl/crawl.ts'
import type { Places } from '../../crawl/pace.ts'
import type { Observation } from '../../observe/observation.ts'
import { observe } from '../../observe/observe.ts'
import { withoutOwn } from '../../schedule/admission.ts'
import type { Name } from '../../words/name.ts'
import { CommandFault } from '../fault.ts'
import { batches } from './batches.ts'
import { Beside, type Held } from './beside.ts'
import type { Destination } from './destination.ts'
import type { Entry, Named } from './list.ts'
import { type Manners, NO_MANNERS, placesAfter } from './manners.ts'
import type { Place } from './place.ts'
import { visitAll } from './run.ts'
import type { Tally } from './tally.ts'

export type Crawl = {
  crawler: Pick<Crawler, 'visit'>
  destination: Pick<Destination, 'placesOf' | 'write'>
  /** None where all servers are one's own. */
  manners?: Manners
  place: Place
  tally: Tally
  /** Visits in flight at once, at most. */
  parallel: number
  signal: AbortSignal
  /** Told of each line as it is taken. */
  onTaken(entry: Entry): void
  /** Told when a visit is over. */
  onVisit(): void
  /** A fault of the program in one visit; the others go on. */
  onFault(name: Name, error: unknown): void
}

const BATCH = 500
/** Milliseconds that an observation waits for others to be written with. */
const PATIENCE = 1000
/** So many names in a row that could not be looked at are no longer bad luck. */
const UNSEEN = 1000

/** True where the list came to its end. Throws CommandFault where nothing can be seen from here, and what writing throws. */
export async function crawlAll(crawl: Crawl): Promise<boolean> {
  const { place, tally, parallel, signal, destination } = crawl
  const written = batches<{ entry: Named; observation: Observation }>(BATCH, PATIENCE, async (items) => {
    const outcomes = await destination.write(items.map(({ observation }) => observation))
    outcomes.forEach(tally.add)
    for (const { entry } of items) place.finish(entry)
    place.save()
  })
  const begin = (entry: Entry): void => {
    place.begin(entry)
    if (entry.name === null) tally.add('unusable')
    crawl.onTaken(entry)
  }
  const { pace, ticks } = crawl.manners ?? NO_MANNERS
  const beside = new Beside({ pace, ticks, onLeft: () => tally.add('held') })
  const visit = async (entry: Named, held?: Held): Promise<void> => {
    const observation = await observationOf(crawl, beside, entry, held)
    if (observation !== null) await written.add({ entry, observation })
    tally.waiting = beside.size
    crawl.onVisit()
  }
  try {
    return await visitAll({ entries: place.rest(), parallel, signal, beside, begin, visit })
  } finally {
    await written.end()
  }
}

/** Null where there is nothing to write: such a name is done, but for one that waits beside or could not be looked at. */
async function observationOf(
  crawl: Crawl,
  beside: Beside,
  entry: Named,
  held: Held | undefined,
): Promise<Observation | null> {
  const { crawler, place, tally, onFault } = crawl
  const places = await turnOf(crawl, beside, entry, held)
  if (places === null) return null
  try {
    const visit = await crawler.visit(entry.name, places.addresses)
    const observation = observe(visit)
    if (visit.held !== undefined) {
      beside.add({ entry, places: placesAfter(held, visit.held, observation), times: (held?.times ?? 0) + 1 })
      return null
    }
    tally.see(observation)
    if (observation.dns !== null) return observation
  } catch (error) {
    tally.add('failed')
    place.finish(entry)
    onFault(entry.name, error)
    return null
  }
  if (tally.blindFor < UNSEEN) return null
  throw new CommandFault(`${UNSEEN} names in a row could not be looked at: the resolver cannot be asked from here`)
}

/** The places where a name has its turn now, as one that was waiting beside has; null where it is not visited now. */
async function turnOf(crawl: Crawl, beside: Beside, entry: Named, held: Held | undefined): Promise<Places | null> {
  const { destination, manners = NO_MANNERS, place, tally } = crawl
  const isOptedOut = manners.optOut.hasName(entry.name)
  const known = isOptedOut ? null : (held?.places ?? (await destination.placesOf(entry.name)))
  if (known === null) {
    tally.add(isOptedOut ? 'opted-out' : 'forgotten')
    place.finish(entry)
    return null
  }
  if (held !== undefined) return known
  const places = withoutOwn(known, manners.isOwn)
  if (manners.pace.wait(places) > 0) {
    beside.add({ entry, places, times: 0 })
    return null
  }
  manners.pace.take(places)
  return places
}
