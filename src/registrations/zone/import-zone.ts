/**
 * Imports a zone: compares its names with those of the newest earlier zone to find registrations and drops of its day.
 */

import { createExternalSorter, type ExternalSorter } from '../../import/stream/external-sort.ts'
import { InputError } from '../../import/stream/input-error.ts'
import { syncFolder } from '../../jobs/file-store/durable.ts'
import { addDays, type Day } from '../../values/time.ts'
import { addNames } from '../add-names.ts'
import { syncDay, withFolderLock, zoneFolderPath } from '../folder.ts'
import type { RegistrationImportOptions, RegistrationImportResult, RegistrationInput } from '../import-options.ts'
import { type DraftList, discardList, draftList, openDraftList, publishSource, readSource } from '../sources.ts'
import { ZONE_PARTS, zoneSuffix } from './label-hash.ts'
import { type ParsedZone, parseZoneFile } from './parse-zone.ts'
import { comparePart, type OnLabel, sortPart } from './sorted-labels.ts'
import {
  discardSet,
  type NeighbourSets,
  nameFromLabel,
  namesOfSet,
  neighbourSets,
  openSetIfAny,
  prunedUntil,
  publishSet,
  readSet,
  writeSet,
  type ZoneSet,
} from './zone-sets.ts'

/** A zone is compared with one that is at most this many days older (contract, Files). */
const MAX_DAYS_APART = 7
const DIFFERENCE_SORT_BYTES = 16_777_216
/** A loss of up to this many names needs no confirmation. */
const LOSS_THRESHOLD_NAMES = 1_000

/** The differences between a set and the newest earlier one. */
type ZoneDifference = { added: ExternalSorter; removed: ExternalSorter }
type DraftLists = { added: DraftList; removed: DraftList }
/** Everything computed from a zone before it is published. */
type ComparedZone = NeighbourSets & {
  read: ParsedZone
  set: ZoneSet
  ownDifference: ZoneDifference
  laterDifference: ZoneDifference
}

/**
 * Imports a zone completely or not at all. New names are stored and due, and missing names become due, before the day
 * is published. The set of its names is published last, so that an interrupted import can simply run again.
 */
export function importZone(
  options: RegistrationImportOptions,
  input: RegistrationInput & { zone: string | null },
): Promise<RegistrationImportResult> {
  return withFolderLock(options.root, async () => {
    const read = await parseZoneFile(options, input)
    try {
      const found = await compareWithNeighbours(options, read)
      return await publishIfChanged(options, found).catch(async (error) => {
        await discardSet(options.root, found.set)
        throw error
      })
    } finally {
      read.parts.close()
    }
  })
}

/** Compares the zone with its neighbours and writes its set. */
async function compareWithNeighbours(
  { root, signal }: RegistrationImportOptions,
  read: ParsedZone,
): Promise<ComparedZone> {
  const { zone, day } = read
  const neighbours = await neighbourSets(root, zone, day)
  const [mine, theirs] = [newDifference(), newDifference()]
  const [earlier, later] = [await openSetIfAny(root, neighbours.earlier), await openSetIfAny(root, neighbours.later)]
  const suffix = zoneSuffix(zone)
  const intoSorter =
    (names: ExternalSorter): OnLabel =>
    (bytes, from, length) =>
      names.add(nameFromLabel(bytes, from, length, zone))
  const events = ({ added, removed }: ZoneDifference) => ({ onFirst: intoSorter(added), onSecond: intoSorter(removed) })
  async function* parts(): AsyncGenerator<{ bytes: Uint8Array; count: number }> {
    for (let number = 0; number < ZONE_PARTS; number++) {
      signal.throwIfAborted()
      const part = sortPart(read.parts.read(number), suffix)
      if (earlier !== null) comparePart(part.bytes, await earlier.part(number), suffix, events(mine))
      if (later !== null) comparePart(await later.part(number), part.bytes, suffix, events(theirs))
      yield part
    }
  }
  try {
    return {
      ...neighbours,
      read,
      ownDifference: mine,
      laterDifference: theirs,
      set: await writeSet(root, read, parts()),
    }
  } finally {
    await earlier?.close()
    await later?.close()
  }
}

function newDifference(): ZoneDifference {
  return { added: createExternalSorter(DIFFERENCE_SORT_BYTES), removed: createExternalSorter(DIFFERENCE_SORT_BYTES) }
}

/** Returns what the lists of a source are computed from. If it is equal, they need not be computed again. */
function sourceBasis(set: ZoneSet, earlier: ZoneSet | null): string {
  return earlier === null ? set.sha256 : `${set.sha256} ${earlier.day} ${earlier.sha256}`
}

/** Returns whether there is no zone within a week before. */
function isFirst(day: Day, earlier: ZoneSet | null): boolean {
  return earlier === null || earlier.day < addDays(day, -MAX_DAYS_APART)
}

async function publishIfChanged(
  options: RegistrationImportOptions,
  found: ComparedZone,
): Promise<RegistrationImportResult> {
  const { root } = options
  const { read, set, earlier, later } = found
  const { zone, day, unusable } = read
  const source = `zone:${zone}`
  const first = isFirst(day, earlier)
  const common = { source, day, names: set.names, unusable, isFirst: first, comparedDay: first ? null : earlier!.day }
  const former = await readSource(root, day, source)
  const isLaterSame = later === null || (await readSource(root, later.day, source))?.basis === sourceBasis(later, set)
  const isStored = (await readSet(root, zone, day))?.sha256 === set.sha256
  const isOld = await isPruned(root, zone, day)
  if (
    (isStored && isLaterSame && former?.basis === sourceBasis(set, earlier)) ||
    (isOld && former?.basis.startsWith(set.sha256))
  ) {
    await discardSet(root, set)
    for (const each of later === null ? [day] : [day, later.day]) await syncDay(root, each)
    await syncFolder(zoneFolderPath(root, zone))
    const { registered, dropped } = former!
    return { ...common, registered, dropped, newNames: 0, rebuiltDay: null, isSame: true }
  }
  if (isOld)
    throw new InputError(`zones of ${zone} from the week before ${day} are no longer stored, so it cannot be compared`)
  const counts = await publishZone(options, found, source)
  return { ...common, ...counts, rebuiltDay: later?.day ?? null, isSame: false }
}

async function isPruned(root: string, zone: string, day: Day): Promise<boolean> {
  const prunedDay = await prunedUntil(root, zone)
  return prunedDay !== null && addDays(day, -MAX_DAYS_APART) <= prunedDay
}

/** Stores the names, then publishes the day, the later day and the set, in this order. */
async function publishZone(
  options: RegistrationImportOptions,
  { read, set, earlier, later, ownDifference, laterDifference }: ComparedZone,
  source: string,
): Promise<Pick<RegistrationImportResult, 'registered' | 'dropped' | 'newNames'>> {
  const { root } = options
  const counts = await withDraftLists(root, { day: read.day, source }, ownDifference, async (drafts) => {
    requireNoLoss(options, drafts, earlier)
    const newNames = await addZoneNames(options, { set, earlier, drafts })
    const first = isFirst(read.day, earlier)
    const imported = await options.store.now()
    return {
      ...(await publishDay(root, drafts, { basis: sourceBasis(set, earlier), imported, first })),
      newNames,
    }
  })
  if (later !== null)
    await withDraftLists(root, { day: later.day, source }, laterDifference, async (drafts) => {
      const imported = await options.store.now()
      await publishDay(root, drafts, { basis: sourceBasis(later, set), imported, first: isFirst(later.day, set) })
    })
  await publishSet(root, set)
  return counts
}

/** Writes the differences as lists, and removes them if the work fails. */
async function withDraftLists<Result>(
  root: string,
  { day, source }: { day: Day; source: string },
  { added, removed }: ZoneDifference,
  work: (drafts: DraftLists) => Promise<Result>,
): Promise<Result> {
  const drafts: DraftList[] = []
  try {
    for (const names of [added, removed]) drafts.push(await draftList(root, day, source, names.sorted()))
    return await work({ added: drafts[0]!, removed: drafts[1]! })
  } catch (error) {
    for (const draft of drafts) await discardList(root, draft)
    throw error
  }
}

/** The form of a zone shows whether it is complete. But a zone that has lost most of its names probably is not. */
function requireNoLoss(
  { acceptsLoss }: RegistrationImportOptions,
  { removed }: DraftLists,
  earlier: ZoneSet | null,
): void {
  if (acceptsLoss || earlier === null || removed.count < LOSS_THRESHOLD_NAMES || removed.count * 2 <= earlier.names)
    return
  throw new InputError(
    `it lacks ${removed.count} of the ${earlier.names} names of ${earlier.day}: if that is correct, use --accept-loss`,
  )
}

/** If the zone is compared with none, all its names are stored. */
async function addZoneNames(
  options: RegistrationImportOptions,
  { set, earlier, drafts }: { set: ZoneSet; earlier: ZoneSet | null; drafts: DraftLists },
): Promise<number> {
  const { root } = options
  let [done, newNames] = [0, 0]
  const onAdded = (names: number, more: number): void => {
    done += names
    newNames += more
    options.onNames(done)
  }
  const knowing = { ...options, onAdded: onAdded }
  if (earlier === null) await addNames(namesOfSet(root, set), { insertsUnknown: true, makesDue: false }, knowing)
  else {
    const registering = { insertsUnknown: true, makesDue: true, registered: drafts.added.day }
    await addNames((await openDraftList(root, drafts.added))!, registering, knowing)
    await addNames((await openDraftList(root, drafts.removed))!, { insertsUnknown: false, makesDue: true }, knowing)
  }
  await options.store.observations.sync()
  return newNames
}

/** The lists of a first zone are empty, whatever it was compared with. */
async function publishDay(
  root: string,
  { added, removed }: DraftLists,
  { basis, imported, first }: { basis: string; imported: number; first: boolean },
): Promise<{ registered: number; dropped: number }> {
  const { day, source } = added
  if (!first) await publishSource(root, { basis, imported }, [added, removed])
  else {
    for (const draft of [added, removed]) await discardList(root, draft)
    const empty = (): Promise<DraftList> => draftList(root, day, source, [])
    await publishSource(root, { basis, imported, isFirst: true }, [await empty(), await empty()])
  }
  return first ? { registered: 0, dropped: 0 } : { registered: added.count, dropped: removed.count }
}
