/** `domaindex import` of zones, of lists of names, and of the inbox: what was registered and dropped, and on which day. */

import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { CommandFault, PARTLY_DONE, UsageFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { type ImportSource, openImportSource } from '../../import/import-source.ts'
import { openRejectsFile } from '../../import/rejects.ts'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import {
  type RegistrationImportOptions,
  type RegistrationImportResult,
  type RegistrationInput,
  StrictImportError,
} from '../../registrations/import-options.ts'
import { type InboxReport, openInbox, processInbox } from '../../registrations/inbox.ts'
import { inflatedBytes } from '../../registrations/inflated-bytes.ts'
import { importList, LIST_NAME_PATTERN } from '../../registrations/list/import-list.ts'
import { importNames } from '../../registrations/list/import-names.ts'
import { importZone } from '../../registrations/zone/import-zone.ts'
import { parseZoneName } from '../../registrations/zone/parse-zone.ts'
import { openStoreWaitingForSpace } from '../../server/disk-space.ts'
import type { Store } from '../../store/port/store.ts'
import type { Day } from '../../values/time.ts'
import { printResult } from '../program/print-result.ts'
import { startProgress } from '../program/progress.ts'
import { listenForStop } from '../program/stop-signal.ts'

export const REGISTRATION_FORMATS = ['zone', 'names'] as const
export type RegistrationFormat = (typeof REGISTRATION_FORMATS)[number]

export type RegistrationOptions = {
  date?: Day
  tld?: string
  list?: string
  registrations?: boolean
  acceptLoss?: boolean
  rejects?: string
  strict?: boolean
  json?: boolean
}
/** What is told while a file is read. */
type ImportListeners = Pick<RegistrationImportOptions, 'onReject' | 'onLines' | 'onNames'> & {
  onBytes(bytes: number): void
}
/** What came of a list that registers nothing. */
type LearnedNames = Pick<RegistrationImportResult, 'names' | 'unusable' | 'newNames'>
type RegistrationWork = { store: Store; settings: Settings; signal: AbortSignal }

const READ_CHUNK_BYTES = 262_144

/** Imports one file. Throws CommandFault where nothing of it was taken. */
export async function importRegistrations(
  format: RegistrationFormat,
  path: string,
  options: RegistrationOptions,
): Promise<void> {
  const source = openImportSource(path)
  const rejects = openRejectsFile(options.rejects ?? null, source.stats)
  const progress = startProgress('lines')
  const nameProgress = startProgress('names')
  let bytes = 0
  const listeners: ImportListeners = {
    onReject: (reject) => rejects.write([reject]),
    onBytes: (more) => (bytes += more),
    onLines: (lines) => progress.show(lines, source.stats.size > 0 ? bytes / source.stats.size : null),
    onNames: (names) => nameProgress.show(names, null, { more: 'become known or due' }),
  }
  const endProgress = (): void => {
    progress.end()
    nameProgress.end()
  }
  const work = async (given: RegistrationWork): Promise<void> => {
    try {
      const taken = await importRegistrationFile(format, source, { ...given, options, listeners })
      endProgress()
      reportImport(taken, progress.seconds(), options.json)
    } catch (error) {
      endProgress()
      reportFailure(path, error)
    }
  }
  await withRegistrationStore(work).finally(rejects.close)
}

async function importRegistrationFile(
  format: RegistrationFormat,
  { fd, path }: ImportSource,
  {
    store,
    settings,
    signal,
    options,
    listeners,
  }: RegistrationWork & { options: RegistrationOptions; listeners: ImportListeners },
): Promise<RegistrationImportResult | LearnedNames> {
  const { date, tld, list, strict, acceptLoss, registrations } = options
  if (list !== undefined && !LIST_NAME_PATTERN.test(list))
    throw new UsageFault('--list takes letters a to z, digits, dots, - and _, 64 at most')
  const flags = { isStrict: strict ?? false, acceptsLoss: acceptLoss ?? false }
  const taking: RegistrationImportOptions = { root: settings.zones, store, signal, ...flags, ...listeners }
  const stream = fd === 0 ? process.stdin : createReadStream('', { fd, highWaterMark: READ_CHUNK_BYTES })
  const given: RegistrationInput = {
    path,
    day: date ?? null,
    bytes: inflatedBytes(addAbortSignal(signal, stream), path, listeners.onBytes),
  }
  if (registrations === false) return importNames(taking, given.bytes)
  if (format === 'names') return importList(taking, { ...given, name: list ?? null })
  return importZone(taking, { ...given, zone: tld === undefined ? null : parseZoneName(tld) })
}

/** Takes all that lies in the inbox. */
export async function importInbox(json: boolean | undefined): Promise<void> {
  await withRegistrationStore(async ({ store, settings, signal }) => {
    const { inbox: folder, zones: root } = settings
    const onReport = (report: InboxReport): void => reportInboxFile(report, folder, json)
    try {
      const reports = await processInbox({ ...openInbox(folder), root, store, signal, onReport })
      printResult(json, { files: reports }, reports.length === 0 ? ['nothing lies in the inbox'] : [])
      if (reports.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
    } catch (error) {
      reportFailure('the inbox', error)
    }
  })
}

async function withRegistrationStore<Result>(work: (given: RegistrationWork) => Promise<Result>): Promise<Result> {
  const settings = loadSettings()
  const stop = listenForStop()
  const store = await openStoreWaitingForSpace(settings, [settings.zones], stop.signal)
  return work({ store, settings, signal: stop.signal }).finally(() => store.close().finally(stop.end))
}

/** Says why it ended. Throws CommandFault, and what is a fault of ours. */
function reportFailure(path: string, error: unknown): void {
  const { name, message } = error as Error
  if (error instanceof StrictImportError) {
    console.error(`stopped at ${message}; nothing of ${path} is taken`)
    process.exitCode = PARTLY_DONE
  } else if (name === 'AbortError') console.error(`stopped; nothing more of ${path} is taken: run it again`)
  else if (error instanceof StorageError) throw new CommandFault(message)
  else if (error instanceof InputError) throw new CommandFault(`${path}: ${message}; nothing of it is taken`)
  else throw error
}

function reportImport(
  taken: RegistrationImportResult | LearnedNames,
  seconds: number,
  json: boolean | undefined,
): void {
  const { names, unusable, newNames: fresh } = taken
  const rate = Math.round(names / Math.max(seconds, 0.001))
  const summary = 'source' in taken ? summarizeImport(taken) : `names ${names}, unusable ${unusable}, new ${fresh}`
  const remarks = 'source' in taken ? importRemarks(taken) : []
  printResult(json, { ...taken, seconds }, [`${summary} (${seconds.toFixed(1)} s, ${rate} names/s)`, ...remarks])
  if (taken.unusable > 0) process.exitCode = PARTLY_DONE
}

/** Tells what became of a file as it ends; with --json only what failed. */
function reportInboxFile(report: InboxReport, folder: string, json: boolean | undefined): void {
  if (json && report.outcome !== 'failed') return
  if (report.outcome === 'done') {
    console.log(`${report.file}: ${summarizeImport(report.taken)}`)
    for (const line of importRemarks(report.taken)) console.log(`${report.file}: ${line}`)
  } else if (report.outcome === 'left') console.log(`${report.file}: left where it is, ${report.reason}`)
  else console.error(`${report.file}: ${report.reason}; it lies in ${folder}/failed`)
}

/** As in `zone:gov 2026-11-19, names 9795, registered 7, dropped 2, unusable 0, new 7`. */
function summarizeImport({
  source,
  day,
  names,
  registered,
  dropped,
  unusable,
  newNames: fresh,
}: RegistrationImportResult): string {
  return `${source} ${day}, names ${names}, registered ${registered}, dropped ${dropped}, unusable ${unusable}, new ${fresh}`
}

function importRemarks({ isSame, isFirst, day, rebuiltDay: remade }: RegistrationImportResult): string[] {
  if (isSame) return ['it was taken before, and nothing has changed']
  const remarks = isFirst
    ? [`there is no zone of the week before ${day}, so nothing counts as registered or dropped`]
    : []
  return remade === null ? remarks : [...remarks, `${remade} was made anew`]
}
