/** `domaindex import` of zones, of lists of names and of the inbox: imports the registrations and drops of a day. */

import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { CommandFault, PARTLY_DONE, UsageFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { type ImportSource, openImportSource } from '../../import/import-source.ts'
import { openRejectsFile } from '../../import/rejects.ts'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import { withInverseMaintenance } from '../../inverse/maintainer.ts'
import {
  type RegistrationImportOptions,
  type RegistrationImportResult,
  type RegistrationInput,
  StrictImportError,
} from '../../registrations/import-options.ts'
import { type InboxReport, openInbox, processInbox, unlabelledFiles } from '../../registrations/inbox.ts'
import { inflatedBytes } from '../../registrations/inflated-bytes.ts'
import { importList, LIST_NAME_PATTERN } from '../../registrations/list/import-list.ts'
import { importNames } from '../../registrations/list/import-names.ts'
import { importZone } from '../../registrations/zone/import-zone.ts'
import { parseZoneName } from '../../registrations/zone/parse-zone.ts'
import { openStoreWaitingForSpace } from '../../server/disk-space.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { inboxPlace, type Place, zonesPlace } from '../../server/places/place.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import type { Day } from '../../values/time.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'

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
/** Callbacks during the import of a file. */
type ImportListeners = Pick<RegistrationImportOptions, 'onReject' | 'onLines' | 'onNames'> & {
  onBytes(bytes: number): void
}
/** The result of a list imported without registrations. */
type LearnedNames = Pick<RegistrationImportResult, 'names' | 'unusable' | 'newNames'>
type RegistrationWork = { store: Store; settings: Settings; signal: AbortSignal; keepUp: () => Promise<void> }

const READ_CHUNK_BYTES = 262_144

/** Imports one file. Throws CommandFault if the import fails. */
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
    onNames: (names) => nameProgress.show(names, null, { more: 'added or made due' }),
  }
  const endProgress = (): void => {
    progress.end()
    nameProgress.end()
  }
  const work = async (input: RegistrationWork): Promise<void> => {
    try {
      const result = await importRegistrationFile(format, source, { ...input, options, listeners })
      endProgress()
      reportImport(result, progress.seconds(), options.json)
    } catch (error) {
      endProgress()
      reportFailure(path, error)
    }
  }
  await withRegistrationStore((settings) => [zonesPlace(settings)], work).finally(rejects.close)
}

async function importRegistrationFile(
  format: RegistrationFormat,
  { fd, path }: ImportSource,
  {
    store,
    settings,
    signal,
    keepUp,
    options,
    listeners,
  }: RegistrationWork & { options: RegistrationOptions; listeners: ImportListeners },
): Promise<RegistrationImportResult | LearnedNames> {
  const { date, tld, list, strict, acceptLoss, registrations } = options
  if (list !== undefined && !LIST_NAME_PATTERN.test(list))
    throw new UsageFault('--list allows at most 64 characters: the letters a to z, digits, ".", "-" and "_"')
  const flags = { isStrict: strict ?? false, acceptsLoss: acceptLoss ?? false }
  const importOptions: RegistrationImportOptions = {
    root: settings.zones,
    store,
    signal,
    keepUp,
    ...flags,
    ...listeners,
  }
  const stream = fd === 0 ? process.stdin : createReadStream('', { fd, highWaterMark: READ_CHUNK_BYTES })
  const input: RegistrationInput = {
    path,
    day: date ?? null,
    bytes: inflatedBytes(addAbortSignal(signal, stream), path, listeners.onBytes),
  }
  if (registrations === false) return importNames(importOptions, input.bytes)
  if (format === 'names') return importList(importOptions, { ...input, name: list ?? null })
  return importZone(importOptions, { ...input, zone: tld === undefined ? null : parseZoneName(tld) })
}

const UNLABELLED_MESSAGE =
  'its name does not say what it is: name it ZONE-YYYY-MM-DD.zone, YYYY-MM-DD.names or LIST-YYYY-MM-DD.names, each ' +
  'perhaps with .gz or .zst'

/** Imports all files in the inbox. Ends with code 3 if a file stays there. */
export async function importInbox(json: boolean | undefined): Promise<void> {
  const placesOf = (settings: Settings) => [inboxPlace(settings), zonesPlace(settings)]
  await withRegistrationStore(placesOf, async ({ store, settings, signal, keepUp }) => {
    const { inbox, zones } = settings
    const onReport = (report: InboxReport): void => reportInboxFile(report, inbox, json)
    try {
      const reports = await processInbox({ ...openInbox(inbox), root: zones, store, signal, keepUp, onReport })
      const unlabelled = await unlabelledFiles(inbox)
      const isEmpty = reports.length + unlabelled.length === 0
      printResult(json, { files: reports }, isEmpty ? ['the inbox is empty'] : [])
      for (const file of unlabelled) console.error(`${file}: ${UNLABELLED_MESSAGE}`)
      if (unlabelled.length > 0 || reports.some(({ outcome }) => outcome === 'left')) process.exitCode = PARTLY_DONE
      if (reports.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
    } catch (error) {
      reportFailure('the inbox', error)
    }
  })
}

/** `placesOf`: the places that the work uses. Throws CommandFault if one is not that of the installation. */
async function withRegistrationStore<Result>(
  placesOf: (settings: Settings) => readonly Place[],
  work: (input: RegistrationWork) => Promise<Result>,
): Promise<Result> {
  const settings = loadSettings()
  const stop = listenForStop()
  const store = await openStoreWaitingForSpace(settings, [settings.zones], stop.signal)
  try {
    await requireOwnPlaces(placesOf(settings), store)
    const indexing = { store, holder: processHolderName(), clock: SYSTEM_CLOCK, reporter: { progress() {} } }
    return await withInverseMaintenance(indexing, stop.signal, (keepUp) =>
      work({ store, settings, signal: stop.signal, keepUp }),
    )
  } finally {
    await store.close().finally(stop.end)
  }
}

/** Reports why the import ended. Throws CommandFault for an unusable file or folder, and any other error unchanged. */
function reportFailure(path: string, error: unknown): void {
  const { name, message } = error as Error
  if (error instanceof StrictImportError) {
    console.error(`stopped at ${message}; nothing of ${path} is imported`)
    process.exitCode = PARTLY_DONE
  } else if (name === 'AbortError') console.error(`stopped; the import of ${path} is incomplete: run it again`)
  else if (error instanceof StorageError) throw new CommandFault(message)
  else if (error instanceof InputError) throw new CommandFault(`${path}: ${message}; nothing of it is imported`)
  else throw error
}

function reportImport(
  result: RegistrationImportResult | LearnedNames,
  seconds: number,
  json: boolean | undefined,
): void {
  const { names, unusable, newNames } = result
  const rate = Math.round(names / Math.max(seconds, 0.001))
  const summary = 'source' in result ? summarizeImport(result) : `names ${names}, unusable ${unusable}, new ${newNames}`
  const remarks = 'source' in result ? importRemarks(result) : []
  printResult(json, { ...result, seconds }, [`${summary} (${seconds.toFixed(1)} s, ${rate} names/s)`, ...remarks])
  if (result.unusable > 0) process.exitCode = PARTLY_DONE
}

/** Reports the outcome of a file of the inbox; with --json, only failures. */
function reportInboxFile(report: InboxReport, folder: string, json: boolean | undefined): void {
  if (json && report.outcome !== 'failed') return
  if (report.outcome === 'done') {
    console.log(`${report.file}: ${summarizeImport(report.taken)}`)
    for (const line of importRemarks(report.taken)) console.log(`${report.file}: ${line}`)
  } else if (report.outcome === 'left') console.log(`${report.file}: left in the inbox, ${report.reason}`)
  else console.error(`${report.file}: ${report.reason}; it is now in ${folder}/failed`)
}

/** Such as `zone:gov 2026-11-19, names 9795, registered 7, dropped 2, unusable 0, new 7`. */
function summarizeImport({
  source,
  day,
  names,
  registered,
  dropped,
  unusable,
  newNames,
}: RegistrationImportResult): string {
  return `${source} ${day}, names ${names}, registered ${registered}, dropped ${dropped}, unusable ${unusable}, new ${newNames}`
}

function importRemarks({ isSame, isFirst, day, rebuiltDay }: RegistrationImportResult): string[] {
  if (isSame) return ['it was imported before, and nothing has changed']
  const remarks = isFirst
    ? [`there is no zone from the week before ${day}, so nothing counts as registered or dropped`]
    : []
  return rebuiltDay === null ? remarks : [...remarks, `${rebuiltDay} was rebuilt`]
}
