/** The inbox: a folder of zones and lists. Each file is imported once and archived with a report. */

import { randomUUID } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { lstat, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InputError, StorageError } from '../import/stream/input-error.ts'
import { ensureFolder, nullIfMissing, syncFolder } from '../jobs/file-store/durable.ts'
import { endWriter, isLeftover, newWriterName } from '../jobs/file-store/leftovers.ts'
import { folderNotes } from '../jobs/file-store/place-mark.ts'
import { type Day, type Instant, parseDay } from '../values/time.ts'
import { folderEntries } from './folder.ts'
import type { RegistrationImportOptions, RegistrationImportResult, RejectedEntry } from './import-options.ts'
import { inflatedBytes } from './inflated-bytes.ts'
import { importList, LIST_NAME_PATTERN } from './list/import-list.ts'
import { importZone } from './zone/import-zone.ts'
import { parseZoneName } from './zone/parse-zone.ts'

/** The result of a file. `left`: it is still in the inbox, for the given reason. */
export type InboxReport = { file: string } & (
  | { outcome: 'done'; taken: RegistrationImportResult; rejects: readonly RejectedEntry[] }
  | { outcome: 'failed' | 'left'; reason: string; rejects: readonly RejectedEntry[] }
)

/** What was recorded about a file that may still be written. `seenAt` is a time of `monotonicMs`. */
type SeenFile = Pick<Stats, 'size' | 'mtimeMs'> & { seenAt: number }

/** `onReport` is called for each file. */
export type Inbox = Pick<RegistrationImportOptions, 'root' | 'store' | 'signal' | 'keepUp'> & {
  folder: string
  /** The time of the file system's clock in milliseconds, which also dates the files. */
  now: () => Promise<number>
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  /**
   * Files that were left, kept between the runs of a process. A file that has not changed by the next run is imported,
   * whatever its time.
   */
  seenFiles: Map<string, SeenFile>
  onReport(report: InboxReport): void
}

/** What a file's name contains: `com-2026-11-19.zone.gz`, `2026-11-19.names.gz`, `NAME-2026-11-19.names`. */
type LabelledFile = { file: string; kind: 'zone' | 'names'; name: string | null; day: Day }

/** Milliseconds for which a file must not change, by its time or between two runs, because it may still be written. */
const UNCHANGED_MS = 10_000
/** Maximum number of rejects in a report. */
const MAX_REPORTED_REJECTS = 100
const INBOX_CHUNK_BYTES = 262_144
const INBOX_FILE_PATTERN = /^(?:(.+)-)?(\d{4}-\d{2}-\d{2})\.(zone|names)(?:\.gz|\.zst)?$/
/** Hidden files, and the mark of the installation with what belongs to it. */
const OWN_ENTRY = /^(\.|installation(\.|$))/
/** The folders within the inbox: files being imported, and imported files. */
const TAKING_FOLDER = 'taking'
const ARCHIVES: readonly Exclude<InboxReport['outcome'], 'left'>[] = ['done', 'failed']
const REPORT_SUFFIX = '.report.json'

/**
 * Imports every file, the oldest day first, one after another. A file that fails is archived too, and the next one
 * follows. Several processes may share an inbox. On a StorageError or an error of the store, it returns the file to the
 * inbox and throws.
 */
export async function processInbox(inbox: Inbox): Promise<InboxReport[]> {
  const { folder, signal, onReport, seenFiles } = inbox
  await returnAbandonedFiles(folder)
  const reports: InboxReport[] = []
  const present = await labelledFiles(folder)
  for (const file of seenFiles.keys()) if (!present.some((labelled) => labelled.file === file)) seenFiles.delete(file)
  for (const labelled of present) {
    if (signal.aborted) break
    const report = await importInboxFile(inbox, labelled)
    if (report === null) continue
    reports.push(report)
    onReport(report)
  }
  return reports
}

/** Returns the files whose names are valid, the oldest day first. */
async function labelledFiles(folder: string): Promise<LabelledFile[]> {
  const labelled = (await folderEntries(folder)).flatMap((file) => labelOfFile(file) ?? [])
  return labelled.sort((a, b) => (a.day === b.day ? (a.file < b.file ? -1 : 1) : a.day < b.day ? -1 : 1))
}

/**
 * Marks a file as complete before it is moved into the inbox, so that the inbox takes it at once: it has not changed
 * lately.
 */
export async function markComplete(path: string): Promise<void> {
  const { atimeMs, mtimeMs } = await stat(path)
  await utimes(path, atimeMs / 1000, (mtimeMs - UNCHANGED_MS) / 1000)
}

/** Returns the files in the inbox that it never takes, because their names are in none of the forms. */
export async function unlabelledFiles(folder: string): Promise<string[]> {
  const unlabelled = (await folderEntries(folder)).filter((file) => !OWN_ENTRY.test(file) && labelOfFile(file) === null)
  const found = await Promise.all(unlabelled.map((file) => lstat(join(folder, file)).catch(nullIfMissing)))
  return unlabelled.filter((_, index) => found[index]?.isFile()).sort()
}

/** Parses a file's name. Returns null if it is not in one of the forms. */
export function labelOfFile(file: string): LabelledFile | null {
  const [, name, date = '', kind] = INBOX_FILE_PATTERN.exec(file) ?? []
  const day = parseDay(date)
  if (day === null || (kind === 'zone' && name === undefined)) return null
  return { file, kind: kind as LabelledFile['kind'], name: name?.toLowerCase() ?? null, day }
}

/** Returns the time of the file system of a folder, in milliseconds. This machine's clock may differ by minutes. */
async function fileSystemTime(folder: string): Promise<number> {
  const place = join(folder, TAKING_FOLDER)
  await ensureFolder(place)
  const file = join(place, `${randomUUID()}.time`)
  try {
    await writeFile(file, '.')
    return (await lstat(file)).mtimeMs
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * Removes the files that were imported or refused before a time, with their reports, or only counts them. A file without
 * a report has its own time.
 */
export async function removeArchivedBefore(folder: string, before: Instant, isDry: boolean): Promise<number> {
  let count = 0
  for (const place of ARCHIVES) {
    const entries = await folderEntries(join(folder, place))
    const countBefore = count
    for (const file of entries.filter((entry) => !entry.endsWith(REPORT_SUFFIX))) {
      const [path, report] = [join(folder, place, file), join(folder, place, file + REPORT_SUFFIX)]
      const archived = (await lstat(report).catch(nullIfMissing)) ?? (await lstat(path).catch(nullIfMissing))
      if (archived === null || archived.mtimeMs >= 1000 * before) continue
      if (!isDry) for (const each of [path, report]) await rm(each, { force: true })
      count++
    }
    if (count > countBefore && !isDry) await syncFolder(join(folder, place))
  }
  return count
}

/** Opens the inbox in a folder with real clocks. */
export function openInbox(folder: string): Pick<Inbox, 'folder' | 'now' | 'monotonicMs' | 'seenFiles'> {
  return { folder, now: () => fileSystemTime(folder), monotonicMs: () => performance.now(), seenFiles: new Map() }
}

/** Returns why a file must wait, or null if it has not changed for long enough. */
async function reasonToLeave(
  { now, monotonicMs, seenFiles }: Inbox,
  file: string,
  found: Stats,
): Promise<string | null> {
  if (!found.isFile()) return 'it is no file'
  const before = seenFiles.get(file)
  const isSeen = before !== undefined && isSameFile(before, found)
  const age = (await now()) - found.mtimeMs
  if (age >= UNCHANGED_MS || (isSeen && monotonicMs() - before.seenAt >= UNCHANGED_MS)) {
    seenFiles.delete(file)
    return null
  }
  if (!isSeen) seenFiles.set(file, { size: found.size, mtimeMs: found.mtimeMs, seenAt: monotonicMs() })
  if (age < 0) return 'its time lies ahead'
  return `it may still be written: it is taken once it has not changed for ${UNCHANGED_MS / 1000} seconds`
}

/** Returns null if another process has claimed the file. */
async function importInboxFile(inbox: Inbox, labelled: LabelledFile): Promise<InboxReport | null> {
  const { folder } = inbox
  const { file } = labelled
  const before = await lstat(join(folder, file)).catch(nullIfMissing)
  if (before === null) return null
  const reason = await reasonToLeave(inbox, file, before)
  if (reason !== null) return { file, outcome: 'left', reason, rejects: [] }
  const claimed = join(TAKING_FOLDER, newWriterName(file))
  try {
    await ensureFolder(join(folder, TAKING_FOLDER))
    if ((await rename(join(folder, file), join(folder, claimed)).catch(nullIfMissing)) === null) return null
    const report = await importLabelledFile(inbox, labelled, join(folder, claimed))
    if (!isSameFile(before, await lstat(join(folder, claimed)))) {
      await returnFile(folder, claimed, file)
      return { file, outcome: 'left', reason: 'it changed while it was read', rejects: [] }
    }
    await archiveFile(folder, claimed, report)
    return report
  } catch (error) {
    await returnFile(folder, claimed, file)
    throw error
  } finally {
    endWriter(claimed)
  }
}

function isSameFile(before: Pick<Stats, 'size' | 'mtimeMs'>, after: Stats): boolean {
  return before.size === after.size && before.mtimeMs === after.mtimeMs
}

async function importLabelledFile(
  inbox: Inbox,
  { file, kind, name, day }: LabelledFile,
  path: string,
): Promise<InboxReport> {
  const rejects: RejectedEntry[] = []
  const onReject = (reject: RejectedEntry): void => {
    if (rejects.length < MAX_REPORTED_REJECTS) rejects.push(reject)
  }
  const importOptions: RegistrationImportOptions = {
    ...inbox,
    isStrict: false,
    acceptsLoss: false,
    onReject,
    onLines() {},
    onNames() {},
  }
  const stream = createReadStream(path, { highWaterMark: INBOX_CHUNK_BYTES })
  const input = { path: file, bytes: inflatedBytes(stream, file, () => {}), day }
  try {
    if (kind === 'zone')
      return {
        file,
        outcome: 'done',
        taken: await importZone(importOptions, { ...input, zone: parseZoneName(name!) }),
        rejects,
      }
    if (name !== null && !LIST_NAME_PATTERN.test(name))
      throw new InputError(`${JSON.stringify(name)} cannot be the name of a list`)
    return { file, outcome: 'done', taken: await importList(importOptions, { ...input, name }), rejects }
  } catch (error) {
    if (!(error instanceof InputError) || error instanceof StorageError) throw error
    return { file, outcome: 'failed', reason: error.message, rejects }
  } finally {
    stream.destroy()
  }
}

/**
 * Writes the report before it moves the file. After that, a power failure does not return the file to the inbox: it would
 * replace what newer files of its name say.
 */
async function archiveFile(folder: string, claimed: string, report: InboxReport): Promise<void> {
  const place = join(folder, report.outcome)
  await folderNotes(place).write(report.file + REPORT_SUFFIX, JSON.stringify(report, null, 2))
  await rename(join(folder, claimed), join(place, report.file))
  for (const changed of [place, join(folder, TAKING_FOLDER), folder]) await syncFolder(changed)
}

/** Returns files that a process claimed and that no longer runs. */
async function returnAbandonedFiles(folder: string): Promise<void> {
  const place = join(folder, TAKING_FOLDER)
  for (const entry of await folderEntries(place)) {
    if (!(await isLeftover(place, entry))) continue
    await returnFile(folder, join(TAKING_FOLDER, entry), entry.replace(/\.[a-z0-9-]*\.\d+\.[0-9a-f]{12}$/, ''))
  }
}

/**
 * Returns a file to the inbox, unless a newer file has the same name by now. Then the newer one is imported instead.
 */
async function returnFile(folder: string, claimed: string, file: string): Promise<void> {
  const reason = 'a newer file with its name has arrived'
  const isReplaced = (await lstat(join(folder, file)).catch(nullIfMissing)) !== null
  if (isReplaced) await archiveFile(folder, claimed, { file, outcome: 'failed', reason, rejects: [] })
  else await rename(join(folder, claimed), join(folder, file)).catch(nullIfMissing)
}
