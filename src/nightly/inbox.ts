/** The inbox: a folder in which zones and lists are put, each picked up once and put away with a report. */

import { randomUUID } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InputFault, PlaceFault } from '../input/fault.ts'
import { type Day, parseDay } from '../words/time.ts'
import { orNull } from './durable.ts'
import { bytesOf } from './registrations/file.ts'
import { importList, LIST_NAME } from './registrations/import-list.ts'
import { importZone } from './registrations/import-zone.ts'
import { entriesOf } from './registrations/place.ts'
import type { Reject, Taken, Taking } from './registrations/taking.ts'
import { zoneName } from './registrations/zone-reading.ts'
import { endWriter, isLeft, writerName } from './shelf-leftovers.ts'

/** What became of a file: `left` is still in the inbox, for the reason given. */
export type Report = { file: string } & (
  | { outcome: 'done'; taken: Taken; rejects: readonly Reject[] }
  | { outcome: 'failed' | 'left'; reason: string; rejects: readonly Reject[] }
)

/** What was seen of a file that was left because it may be written still; `at` as `ticks` tells it. */
type Glimpse = Pick<Stats, 'size' | 'mtimeMs'> & { at: number }

/** `onReport` is told of each file. */
export type Inbox = Pick<Taking, 'root' | 'store' | 'signal'> & {
  folder: string
  /** The time by the clock of the file system, which gives files theirs: milliseconds. */
  now: () => Promise<number>
  /** Milliseconds of a clock that is never set. */
  ticks: () => number
  /** The files that were left, from one look of a process to its next: one that is then unchanged is taken, whatever its time. */
  glimpses: Map<string, Glimpse>
  onReport(report: Report): void
}

/** What the name of a file says: `com-2026-11-19.zone.gz`, `2026-11-19.names.gz`, `NAME-2026-11-19.names`. */
type Labelled = { file: string; kind: 'zone' | 'names'; name: string | null; day: Day }

/** Milliseconds for which a file has to lie still, by its time or between two looks, since it may be written yet. */
const STILL = 10_000
/** Rejects that a report keeps. */
const KEPT_REJECTS = 100
const CHUNK_BYTES = 262_144
const SHAPE = /^(?:(.+)-)?(\d{4}-\d{2}-\d{2})\.(zone|names)(?:\.gz|\.zst)?$/
/** The folders within the inbox: files that are being taken, and those that were. */
const TAKING = 'taking'

/**
 * Takes all that lies there, the oldest day first, one after another; what fails is put away too, and the rest goes on. Several
 * processes may look at one inbox. Throws PlaceFault, and what the store throws, with the file back in the inbox.
 */
export async function takeInbox(inbox: Inbox): Promise<Report[]> {
  const { folder, signal, onReport, glimpses } = inbox
  await putBackLeft(folder)
  const reports: Report[] = []
  const lying = await labelledIn(folder)
  for (const file of glimpses.keys()) if (!lying.some((labelled) => labelled.file === file)) glimpses.delete(file)
  for (const labelled of lying) {
    if (signal.aborted) break
    const report = await takeFile(inbox, labelled)
    if (report === null) continue
    reports.push(report)
    onReport(report)
  }
  return reports
}

/** The files whose names say what they are, the oldest day first. */
async function labelledIn(folder: string): Promise<Labelled[]> {
  const labelled = (await entriesOf(folder)).flatMap((file) => labelOf(file) ?? [])
  return labelled.sort((a, b) => (a.day === b.day ? (a.file < b.file ? -1 : 1) : a.day < b.day ? -1 : 1))
}

/** What a file's name says; null for one that is none of ours. */
export function labelOf(file: string): Labelled | null {
  const [, name, date = '', kind] = SHAPE.exec(file) ?? []
  const day = parseDay(date)
  if (day === null || (kind === 'zone' && name === undefined)) return null
  return { file, kind: kind as Labelled['kind'], name: name?.toLowerCase() ?? null, day }
}

/** The time of the file system that a folder lies on: milliseconds. This machine's clock may be minutes away from it. */
async function fileTime(folder: string): Promise<number> {
  const place = join(folder, TAKING)
  await mkdir(place, { recursive: true })
  const file = join(place, `${randomUUID()}.time`)
  try {
    await writeFile(file, '.')
    return (await lstat(file)).mtimeMs
  } finally {
    await rm(file, { force: true })
  }
}

/** The inbox in a folder, by real clocks, of which nothing was seen yet. */
export function inboxAt(folder: string): Pick<Inbox, 'folder' | 'now' | 'ticks' | 'glimpses'> {
  return { folder, now: () => fileTime(folder), ticks: () => performance.now(), glimpses: new Map() }
}

/** Why a file is to be left for now; null if it has lain still. */
async function whyLeft({ now, ticks, glimpses }: Inbox, file: string, found: Stats): Promise<string | null> {
  if (!found.isFile()) return 'it is no file'
  const before = glimpses.get(file)
  const isSeen = before !== undefined && isSame(before, found)
  const age = (await now()) - found.mtimeMs
  if (age >= STILL || (isSeen && ticks() - before.at >= STILL)) {
    glimpses.delete(file)
    return null
  }
  if (!isSeen) glimpses.set(file, { size: found.size, mtimeMs: found.mtimeMs, at: ticks() })
  return age < 0 ? 'its time lies ahead' : 'it is being written'
}

/** Null where another process has it. */
async function takeFile(inbox: Inbox, labelled: Labelled): Promise<Report | null> {
  const { folder } = inbox
  const { file } = labelled
  const before = await lstat(join(folder, file)).catch(orNull)
  if (before === null) return null
  const reason = await whyLeft(inbox, file, before)
  if (reason !== null) return { file, outcome: 'left', reason, rejects: [] }
  const claimed = join(TAKING, writerName(file))
  try {
    await mkdir(join(folder, TAKING), { recursive: true })
    if ((await rename(join(folder, file), join(folder, claimed)).catch(orNull)) === null) return null
    const report = await importFile(inbox, labelled, join(folder, claimed))
    if (!isSame(before, await lstat(join(folder, claimed)))) {
      await putBack(folder, claimed, file)
      return { file, outcome: 'left', reason: 'it was written to while it was read', rejects: [] }
    }
    await putAway(folder, claimed, report)
    return report
  } catch (error) {
    await putBack(folder, claimed, file)
    throw error
  } finally {
    endWriter(claimed)
  }
}

function isSame(before: Pick<Stats, 'size' | 'mtimeMs'>, after: Stats): boolean {
  return before.size === after.size && before.mtimeMs === after.mtimeMs
}

async function importFile(inbox: Inbox, { file, kind, name, day }: Labelled, path: string): Promise<Report> {
  const rejects: Reject[] = []
  const onReject = (reject: Reject): void => {
    if (rejects.length < KEPT_REJECTS) rejects.push(reject)
  }
  const taking: Taking = { ...inbox, isStrict: false, acceptsLoss: false, onReject, onLines() {}, onNames() {} }
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  const given = { path: file, bytes: bytesOf(stream, file, () => {}), day }
  try {
    if (kind === 'zone')
      return { file, outcome: 'done', taken: await importZone(taking, { ...given, zone: zoneName(name!) }), rejects }
    if (name !== null && !LIST_NAME.test(name))
      throw new InputFault(`${JSON.stringify(name)} cannot be the name of a list`)
    return { file, outcome: 'done', taken: await importList(taking, { ...given, name }), rejects }
  } catch (error) {
    if (!(error instanceof InputFault) || error instanceof PlaceFault) throw error
    return { file, outcome: 'failed', reason: error.message, rejects }
  } finally {
    stream.destroy()
  }
}

/** The report is there before the file is. */
async function putAway(folder: string, claimed: string, report: Report): Promise<void> {
  const place = join(folder, report.outcome)
  await mkdir(place, { recursive: true })
  await writeFile(join(place, `${report.file}.report.json`), `${JSON.stringify(report, null, 2)}\n`)
  await rename(join(folder, claimed), join(place, report.file))
}

/** Puts files back that a process was taking which is no more. */
async function putBackLeft(folder: string): Promise<void> {
  const place = join(folder, TAKING)
  for (const entry of await entriesOf(place)) {
    if (!(await isLeft(place, entry))) continue
    await putBack(folder, join(TAKING, entry), entry.replace(/\.[a-z0-9-]*\.\d+\.[0-9a-f]{12}$/, ''))
  }
}

/** Puts a file back, unless a newer one has its name by now: that one is taken in its stead. */
async function putBack(folder: string, claimed: string, file: string): Promise<void> {
  const reason = 'a newer file of its name has come'
  const isReplaced = (await lstat(join(folder, file)).catch(orNull)) !== null
  if (isReplaced) await putAway(folder, claimed, { file, outcome: 'failed', reason, rejects: [] })
  else await rename(join(folder, claimed), join(folder, file)).catch(orNull)
}
