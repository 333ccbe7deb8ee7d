/** The crawl of a list: each name is visited, what was seen is checked, counted and written, and the place in the list follows. */

import type { Crawler } from '../../crawl/crawl.ts'
import { observe } from '../../observe/observe.ts'
import { withoutOwn } from '../../schedule/admission.ts'
import type { Clock } from '../../schedule/bell.ts'
import { outcomesOf } from '../../schedule/outcomes.ts'
import type { SelfCheck } from '../../schedule/self-check.ts'
import { Trouble } from '../../schedule/span.ts'
import { endOf } from '../../schedule/visits.ts'
import { NEW_WATCH } from '../../schedule/watch.ts'
import type { Name } from '../../words/name.ts'
import { CLOCK } from '../clock.ts'
import { Again } from './again.ts'
import { Beside, type Held } from './beside.ts'
import { Checked, type Seen } from './checked.ts'
import type { Destination, Known } from './destination.ts'
import type { Entry, Named } from './list.ts'
import { type Manners, NO_MANNERS, placesAfter } from './manners.ts'
import type { Place } from './place.ts'
import { visitAll } from './run.ts'
import type { Tally } from './tally.ts'

export type Crawl = {
  crawler: Pick<Crawler, 'visit'>
  /** Asks the control questions. */
  look: SelfCheck['look']
  destination: Pick<Destination, 'known' | 'write' | 'history'>
  /** None where all servers are one's own. */
  manners?: Manners
  place: Place
  tally: Tally
  /** Visits in flight at once, at most. */
  parallel: number
  signal: AbortSignal
  clock?: Clock
  /** Told of each line as it is taken. */
  onTaken(entry: Entry): void
  /** Told when a visit is over. */
  onVisit(): void
  /** A fault of the program in one visit; the others go on. */
  onFault(name: Name, error: unknown): void
  /** Why the crawl pauses, and that it goes on. */
  say(news: string): void
}

/** What one crawl has in hand. */
type Hands = { crawl: Crawl; beside: Beside; again: Again; checked: Checked }

/** So many names in a row that could not be looked at are no longer bad luck. */
const UNSEEN = 1000
const BLIND = `${UNSEEN} names in a row could not be looked at: the resolver cannot be asked from here`

/** True where the list came to its end. Throws what writing throws. */
export async function crawlAll(crawl: Crawl): Promise<boolean> {
  const { place, tally, parallel, signal } = crawl
  const { pace, ticks } = crawl.manners ?? NO_MANNERS
  const beside = new Beside({ pace, ticks, onLeft: () => tally.add('held') })
  const again = new Again()
  let goOn = (): void => {}
  const checked = openChecked(crawl, again, () => goOn())
  const hands = { crawl, beside, again, checked }
  const pause = {
    isPaused: () => checked.isPaused,
    onReady(ready: () => void) {
      goOn = ready
    },
  }
  const begin = (entry: Entry): void => {
    place.begin(entry)
    if (entry.name === null) tally.add('unusable')
    crawl.onTaken(entry)
  }
  const visit = (entry: Named, held?: Held): Promise<void> => visitOne(hands, entry, held)
  const task = { parallel, signal, beside, again, pause, begin, visit }
  try {
    let isDone = await visitAll({ ...task, entries: place.rest() })
    await checked.settle()
    while (isDone && again.hasMore()) {
      isDone = await visitAll({ ...task, entries: nothing() })
      await checked.settle()
    }
    return isDone
  } finally {
    await checked.settle().finally(() => checked.close())
  }
}

async function* nothing(): AsyncGenerator<Entry> {}

function openChecked(crawl: Crawl, again: Again, onReady: () => void): Checked {
  const { look, destination, place, tally, signal, say, clock = CLOCK } = crawl
  return new Checked({
    check: { ...destination.history, look, say, memory: { watch: NEW_WATCH } },
    clock,
    signal,
    onThrown: (entries) => again.add(entries),
    onReady,
    async write(slice) {
      const isSeen = ({ observation }: Seen): boolean => observation.dns !== null
      const seen = slice.filter(isSeen)
      const outcomes = await destination.write(seen.map(({ observation }) => observation))
      outcomes.forEach(tally.add)
      await destination.history.add(outcomesOf(seen))
      for (const each of slice) {
        if (isSeen(each)) place.finish(each.entry)
        if (isSeen(each) || !again.addLater(each.entry)) tally.see(each.observation)
      }
      place.save()
      crawl.onVisit()
    },
  })
}

async function visitOne({ crawl, beside, again, checked }: Hands, entry: Named, held?: Held): Promise<void> {
  const { tally } = crawl
  const begun = checked.begin()
  let seen: Seen | null = null
  try {
    const known = await turnOf(crawl, beside, entry, held)
    seen = known === null ? null : await seenOf({ crawl, beside, again, checked }, entry, known, held)
  } finally {
    checked.end(begun, seen)
  }
  tally.waiting = beside.size
  crawl.onVisit()
}

/** Null for a name that waits beside now, and for a fault. */
async function seenOf(hands: Hands, entry: Named, { places, past }: Known, held?: Held): Promise<Seen | null> {
  const { crawler, place, tally, onFault } = hands.crawl
  try {
    const visit = await crawler.visit(entry.name, places.addresses)
    const observation = observe(visit)
    if (visit.held !== undefined) {
      const waits = placesAfter(held, visit.held, observation)
      hands.beside.add({ entry, places: waits, past, times: (held?.times ?? 0) + 1 })
      return null
    }
    noteBlind(hands, observation.dns === null)
    return { entry, observation, at: visit.at, end: endOf(observation), candidate: { past } }
  } catch (error) {
    tally.add('failed')
    place.finish(entry)
    onFault(entry.name, error)
  }
  return null
}

/** Counts the names in a row that could not be looked at; too many pause the crawl. */
function noteBlind({ crawl: { tally }, checked }: Hands, isBlind: boolean): void {
  tally.blindFor = isBlind ? tally.blindFor + 1 : 0
  if (tally.blindFor < UNSEEN) return
  tally.blindFor = 0
  checked.giveUp(new Trouble('blind', BLIND))
}

/** What is known of a name that has its turn now, as one that was waiting beside has; null where it is not visited now. */
async function turnOf(crawl: Crawl, beside: Beside, entry: Named, held: Held | undefined): Promise<Known | null> {
  const { destination, manners = NO_MANNERS, place, tally } = crawl
  const isOptedOut = manners.optOut.hasName(entry.name)
  const known = isOptedOut ? null : (held ?? (await destination.known(entry.name)))
  if (known === null) {
    tally.add(isOptedOut ? 'opted-out' : 'forgotten')
    place.finish(entry)
    return null
  }
  if (held !== undefined) return known
  const places = withoutOwn(known.places, manners.isOwn)
  if (manners.pace.wait(places) > 0) {
    beside.add({ entry, places, past: known.past, times: 0 })
    return null
  }
  manners.pace.take(places)
  return { places, past: known.past }
}
