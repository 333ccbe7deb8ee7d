/** `domaindex import` of zones, of lists of names, and of the inbox: what was registered and dropped, and on which day. */

import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { loadSettings, type Settings } from '../../config.ts'
import { InputFault, PlaceFault } from '../../input/fault.ts'
import { inboxAt, type Report, takeInbox } from '../../nightly/inbox.ts'
import { bytesOf } from '../../nightly/registrations/file.ts'
import { importList, LIST_NAME } from '../../nightly/registrations/import-list.ts'
import { importZone } from '../../nightly/registrations/import-zone.ts'
import { learnList } from '../../nightly/registrations/learn-list.ts'
import { type Given, RefusedLine, type Taken, type Taking } from '../../nightly/registrations/taking.ts'
import { zoneName } from '../../nightly/registrations/zone-reading.ts'
import type { Store } from '../../store/store.ts'
import type { Day } from '../../words/time.ts'
import { CommandFault, PARTLY_DONE, UsageFault } from '../fault.ts'
import { progressOf } from '../progress.ts'
import { print } from '../result.ts'
import { openPatientStore } from '../room.ts'
import { listenForStop } from '../stop.ts'
import { rejectsTo } from './rejects.ts'
import { openSource, type Source } from './source.ts'

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
type Told = Pick<Taking, 'onReject' | 'onLines' | 'onNames'> & { onBytes(bytes: number): void }
/** What came of a list that registers nothing. */
type Learned = Pick<Taken, 'names' | 'unusable' | 'fresh'>
type Work = { store: Store; settings: Settings; signal: AbortSignal }

const CHUNK_BYTES = 262_144

/** Imports one file. Throws CommandFault where nothing of it was taken. */
export async function importRegistrations(
  format: RegistrationFormat,
  path: string,
  options: RegistrationOptions,
): Promise<void> {
  const source = openSource(path)
  const rejects = rejectsTo(options.rejects ?? null, source.stats)
  const progress = progressOf('lines')
  const known = progressOf('names')
  let bytes = 0
  const told: Told = {
    onReject: (reject) => rejects.keep([reject]),
    onBytes: (more) => (bytes += more),
    onLines: (lines) => progress.show(lines, source.stats.size > 0 ? bytes / source.stats.size : null),
    onNames: (names) => known.show(names, null, { more: 'become known or due' }),
  }
  const endProgress = (): void => {
    progress.end()
    known.end()
  }
  const work = async (given: Work): Promise<void> => {
    try {
      const taken = await importOne(format, source, { ...given, options, told })
      endProgress()
      tell(taken, progress.seconds(), options.json)
    } catch (error) {
      endProgress()
      giveUp(path, error)
    }
  }
  await withStore(work).finally(rejects.close)
}

async function importOne(
  format: RegistrationFormat,
  { fd, path }: Source,
  { store, settings, signal, options, told }: Work & { options: RegistrationOptions; told: Told },
): Promise<Taken | Learned> {
  const { date, tld, list, strict, acceptLoss, registrations } = options
  if (list !== undefined && !LIST_NAME.test(list))
    throw new UsageFault('--list takes letters a to z, digits, dots, - and _, 64 at most')
  const flags = { isStrict: strict ?? false, acceptsLoss: acceptLoss ?? false }
  const taking: Taking = { root: settings.zones, store, signal, ...flags, ...told }
  const stream = fd === 0 ? process.stdin : createReadStream('', { fd, highWaterMark: CHUNK_BYTES })
  const given: Given = { path, day: date ?? null, bytes: bytesOf(addAbortSignal(signal, stream), path, told.onBytes) }
  if (registrations === false) return learnList(taking, given.bytes)
  if (format === 'names') return importList(taking, { ...given, name: list ?? null })
  return importZone(taking, { ...given, zone: tld === undefined ? null : zoneName(tld) })
}

/** Takes all that lies in the inbox. */
export async function takeWholeInbox(json: boolean | undefined): Promise<void> {
  await withStore(async ({ store, settings, signal }) => {
    const { inbox: folder, zones: root } = settings
    const onReport = (report: Report): void => tellReport(report, folder, json)
    try {
      const reports = await takeInbox({ ...inboxAt(folder), root, store, signal, onReport })
      print(json, { files: reports }, reports.length === 0 ? ['nothing lies in the inbox'] : [])
      if (reports.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
    } catch (error) {
      giveUp('the inbox', error)
    }
  })
}

async function withStore<Result>(work: (given: Work) => Promise<Result>): Promise<Result> {
  const settings = loadSettings()
  const stop = listenForStop()
  const store = await openPatientStore(settings, [settings.zones], stop.signal)
  return work({ store, settings, signal: stop.signal }).finally(() => store.close().finally(stop.end))
}

/** Says why it ended. Throws CommandFault, and what is a fault of ours. */
function giveUp(path: string, error: unknown): void {
  const { name, message } = error as Error
  if (error instanceof RefusedLine) {
    console.error(`stopped at ${message}; nothing of ${path} is taken`)
    process.exitCode = PARTLY_DONE
  } else if (name === 'AbortError') console.error(`stopped; nothing more of ${path} is taken: run it again`)
  else if (error instanceof PlaceFault) throw new CommandFault(message)
  else if (error instanceof InputFault) throw new CommandFault(`${path}: ${message}; nothing of it is taken`)
  else throw error
}

function tell(taken: Taken | Learned, seconds: number, json: boolean | undefined): void {
  const { names, unusable, fresh } = taken
  const rate = Math.round(names / Math.max(seconds, 0.001))
  const words = 'source' in taken ? wordsOf(taken) : `names ${names}, unusable ${unusable}, new ${fresh}`
  const remarks = 'source' in taken ? remarksOn(taken) : []
  print(json, { ...taken, seconds }, [`${words} (${seconds.toFixed(1)} s, ${rate} names/s)`, ...remarks])
  if (taken.unusable > 0) process.exitCode = PARTLY_DONE
}

/** Tells what became of a file as it ends; with --json only what failed. */
function tellReport(report: Report, folder: string, json: boolean | undefined): void {
  if (json && report.outcome !== 'failed') return
  if (report.outcome === 'done') {
    console.log(`${report.file}: ${wordsOf(report.taken)}`)
    for (const line of remarksOn(report.taken)) console.log(`${report.file}: ${line}`)
  } else if (report.outcome === 'left') console.log(`${report.file}: left where it is, ${report.reason}`)
  else console.error(`${report.file}: ${report.reason}; it lies in ${folder}/failed`)
}

/** As in `zone:gov 2026-11-19, names 9795, registered 7, dropped 2, unusable 0, new 7`. */
function wordsOf({ source, day, names, registered, dropped, unusable, fresh }: Taken): string {
  return `${source} ${day}, names ${names}, registered ${registered}, dropped ${dropped}, unusable ${unusable}, new ${fresh}`
}

function remarksOn({ isSame, isFirst, day, remade }: Taken): string[] {
  if (isSame) return ['it was taken before, and nothing has changed']
  const remarks = isFirst
    ? [`there is no zone of the week before ${day}, so nothing counts as registered or dropped`]
    : []
  return remade === null ? remarks : [...remarks, `${remade} was made anew`]
}
