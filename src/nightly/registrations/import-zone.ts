/** Takes a zone: its names against those of the newest earlier one give what was registered and dropped on its day. */

import { InputFault } from '../../input/fault.ts'
import { type Sorter, sorter } from '../../input/runs.ts'
import type { Name } from '../../words/name.ts'
import { addDays, type Day } from '../../words/time.ts'
import { bring } from './known.ts'
import { alone } from './place.ts'
import { PARTS, suffixOf } from './slots.ts'
import { comparePart, eachLabel, type OnLabel, sortPart } from './sorted.ts'
import { type Draft, discardList, draftList, openList, publishSource, sourceOf } from './sources.ts'
import type { Given, Taken, Taking } from './taking.ts'
import { type ReadZone, readZone } from './zone-reading.ts'
import {
  daysKept,
  discardSet,
  type OpenSet,
  openSet,
  prunedUntil,
  publishSet,
  readSet,
  writeSet,
  type ZoneSet,
} from './zone-sets.ts'

/** A zone registers against one that is so many days older, at most (contract, Files). */
const DAYS_APART = 7
const MEMORY_BYTES = 16_777_216
const BATCH = 10_000
/** What a zone may lose without being asked about it. */
const LOSS_NAMES = 1_000

/** The sets next to that of a day. */
type Neighbours = { earlier: ZoneSet | null; later: ZoneSet | null }
/** What differs between a set and the newest earlier one. */
type Differences = { added: Sorter; gone: Sorter }
type Drafts = { added: Draft; gone: Draft }
/** All that was found out of a zone, before anybody sees it. */
type Found = Neighbours & { read: ReadZone; set: ZoneSet; mine: Differences; theirs: Differences }

/**
 * Takes a zone whole or not at all. What it adds becomes known to the store and due, and what it lacks due, before the day
 * is seen; the set of its names comes last, so that an import that was killed is simply run again.
 */
export function importZone(taking: Taking, given: Given & { zone: string | null }): Promise<Taken> {
  return alone(taking.root, async () => {
    const read = await readZone(taking, given)
    try {
      const found = await find(taking, read)
      return await settle(taking, found).catch(async (error) => {
        await discardSet(taking.root, found.set)
        throw error
      })
    } finally {
      read.parts.close()
    }
  })
}

/** Compares it with its neighbours, and writes its set. */
async function find({ root, signal }: Taking, read: ReadZone): Promise<Found> {
  const { zone, day } = read
  const neighbours = await neighboursOf(root, zone, day)
  const mine = { added: sorter(MEMORY_BYTES), gone: sorter(MEMORY_BYTES) }
  const theirs = { added: sorter(MEMORY_BYTES), gone: sorter(MEMORY_BYTES) }
  const [earlier, later] = [await opened(root, neighbours.earlier), await opened(root, neighbours.later)]
  const suffix = suffixOf(zone)
  const intoSorter =
    (names: Sorter): OnLabel =>
    (bytes, from, length) =>
      names.add(nameAt(bytes, from, length, zone))
  const events = ({ added, gone }: Differences) => ({ onFirst: intoSorter(added), onSecond: intoSorter(gone) })
  async function* parts(): AsyncGenerator<{ bytes: Uint8Array; count: number }> {
    for (let number = 0; number < PARTS; number++) {
      signal.throwIfAborted()
      const part = sortPart(read.parts.read(number), suffix)
      if (earlier !== null) comparePart(part.bytes, await earlier.part(number), suffix, events(mine))
      if (later !== null) comparePart(await later.part(number), part.bytes, suffix, events(theirs))
      yield part
    }
  }
  try {
    return { ...neighbours, read, mine, theirs, set: await writeSet(root, read, parts()) }
  } finally {
    await earlier?.close()
    await later?.close()
  }
}

async function neighboursOf(root: string, zone: string, day: Day): Promise<Neighbours> {
  const days = await daysKept(root, zone)
  const [before, after] = [days.findLast((each) => each < day), days.find((each) => each > day)]
  const setOf = (each: Day | undefined) => (each === undefined ? null : readSet(root, zone, each))
  return { earlier: await setOf(before), later: await setOf(after) }
}

async function opened(root: string, set: ZoneSet | null): Promise<OpenSet | null> {
  return set === null ? null : openSet(root, set)
}

/** What a source's lists were made of: from the same they need not be made again. */
function basisOf(set: ZoneSet, earlier: ZoneSet | null): string {
  return earlier === null ? set.sha256 : `${set.sha256} ${earlier.day} ${earlier.sha256}`
}

/** Whether there is no zone within a week before. */
function isFirst(day: Day, earlier: ZoneSet | null): boolean {
  return earlier === null || earlier.day < addDays(day, -DAYS_APART)
}

async function settle(taking: Taking, found: Found): Promise<Taken> {
  const { root } = taking
  const { read, set, earlier, later } = found
  const { zone, day, unusable } = read
  const source = `zone:${zone}`
  const first = isFirst(day, earlier)
  const taken = { source, day, names: set.names, unusable, isFirst: first, against: first ? null : earlier!.day }
  const former = await sourceOf(root, day, source)
  const isLaterSame = later === null || (await sourceOf(root, later.day, source))?.basis === basisOf(later, set)
  const isKept = (await readSet(root, zone, day))?.sha256 === set.sha256
  const isOld = await isPruned(root, zone, day)
  if (
    (isKept && isLaterSame && former?.basis === basisOf(set, earlier)) ||
    (isOld && former?.basis.startsWith(set.sha256))
  ) {
    await discardSet(root, set)
    const { registered, dropped } = former!
    return { ...taken, registered, dropped, fresh: 0, remade: null, isSame: true }
  }
  if (isOld)
    throw new InputFault(`zones of ${zone} from the week before ${day} are no longer kept, so it cannot be compared`)
  const counts = await publish(taking, found, source)
  return { ...taken, ...counts, remade: later?.day ?? null, isSame: false }
}

async function isPruned(root: string, zone: string, day: Day): Promise<boolean> {
  const until = await prunedUntil(root, zone)
  return until !== null && addDays(day, -DAYS_APART) <= until
}

/** Brings the names into the store, and makes the day, the later day and the set seen, in this order. */
async function publish(
  taking: Taking,
  { read, set, earlier, later, mine, theirs }: Found,
  source: string,
): Promise<Pick<Taken, 'registered' | 'dropped' | 'fresh'>> {
  const { root } = taking
  const made = await withDrafts(root, { day: read.day, source }, mine, async (drafts) => {
    expectNoLoss(taking, drafts, earlier)
    const fresh = await bringAll(taking, { set, earlier, drafts })
    const first = isFirst(read.day, earlier)
    const imported = await taking.store.now()
    return { ...(await publishDay(root, drafts, { basis: basisOf(set, earlier), imported, first })), fresh }
  })
  if (later !== null)
    await withDrafts(root, { day: later.day, source }, theirs, async (drafts) => {
      const imported = await taking.store.now()
      await publishDay(root, drafts, { basis: basisOf(later, set), imported, first: isFirst(later.day, set) })
    })
  await publishSet(root, set)
  return made
}

/** Writes what differs as lists, which are gone where the work fails. */
async function withDrafts<Result>(
  root: string,
  { day, source }: { day: Day; source: string },
  { added, gone }: Differences,
  work: (drafts: Drafts) => Promise<Result>,
): Promise<Result> {
  const drafts: Draft[] = []
  try {
    for (const names of [added, gone]) drafts.push(await draftList(root, day, source, names.sorted()))
    return await work({ added: drafts[0]!, gone: drafts[1]! })
  } catch (error) {
    for (const draft of drafts) await discardList(root, draft)
    throw error
  }
}

/** A zone counts as whole by its form alone; one that has lost most of its names hardly is. */
function expectNoLoss({ acceptsLoss }: Taking, { gone }: Drafts, earlier: ZoneSet | null): void {
  if (acceptsLoss || earlier === null || gone.count < LOSS_NAMES || gone.count * 2 <= earlier.names) return
  throw new InputFault(
    `it lacks ${gone.count} of the ${earlier.names} names of ${earlier.day}: if that is so, --accept-loss takes it`,
  )
}

/** Of a zone that is compared with none, all names become known. */
async function bringAll(
  taking: Taking,
  { set, earlier, drafts }: { set: ZoneSet; earlier: ZoneSet | null; drafts: Drafts },
): Promise<number> {
  const { root } = taking
  let [done, fresh] = [0, 0]
  const onKnown = (names: number, more: number): void => {
    done += names
    fresh += more
    taking.onNames(done)
  }
  const knowing = { ...taking, onKnown }
  if (earlier === null) await bring(namesOf(root, set), { isNew: true, isDue: false }, knowing)
  else {
    await bring((await openList(root, drafts.added))!, { isNew: true, isDue: true }, knowing)
    await bring((await openList(root, drafts.gone))!, { isNew: false, isDue: true }, knowing)
  }
  return fresh
}

/** The lists of a first zone are empty, whatever it was compared with. */
async function publishDay(
  root: string,
  { added, gone }: Drafts,
  { basis, imported, first }: { basis: string; imported: number; first: boolean },
): Promise<{ registered: number; dropped: number }> {
  const { day, source } = added
  if (!first) await publishSource(root, { basis, imported }, [added, gone])
  else {
    for (const draft of [added, gone]) await discardList(root, draft)
    const empty = (): Promise<Draft> => draftList(root, day, source, [])
    await publishSource(root, { basis, imported }, [await empty(), await empty()])
  }
  return first ? { registered: 0, dropped: 0 } : { registered: added.count, dropped: gone.count }
}

/** All names of a set, in its order. */
async function* namesOf(root: string, set: ZoneSet): AsyncGenerator<Name[]> {
  const open = await openSet(root, set)
  try {
    let batch: Name[] = []
    for (let number = 0; number < PARTS; number++) {
      eachLabel(await open.part(number), (bytes, from, length) => batch.push(nameAt(bytes, from, length, set.zone)))
      for (; batch.length >= BATCH; batch = batch.slice(BATCH)) yield batch.slice(0, BATCH)
    }
    if (batch.length > 0) yield batch
  } finally {
    await open.close()
  }
}

function nameAt(bytes: Uint8Array, from: number, length: number, zone: string): Name {
  return `${Buffer.from(bytes.buffer, bytes.byteOffset + from, length).toString('latin1')}.${zone}` as Name
}
