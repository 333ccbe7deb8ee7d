/** `domaindex daily` and `domaindex snapshot`: downloads files, or all daily files that a folder lacks. */

import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { type DomaindexClient, DomaindexError, type FileEntry } from '../../../client/src/client.ts'
import { UsageFault } from '../../config/command-fault.ts'
import { addDays, type Day, dayOf } from '../../values/time.ts'
import { parseDayArgument } from '../program/arguments.ts'
import { EXIT_CODES, EXIT_CODES_HELP } from '../program/client-fault.ts'
import { reportLine, startProgress } from '../program/output.ts'
import { addOutputOptions, addServerOptions, withAnswerSource } from './query-command.ts'
import { type OutputOptions, openRowWriter, type RowShape, type RowWriter } from './row-writer.ts'
import { downloadOneFile, requireFileOutput, saveFile } from './save-file.ts'
import type { ServerOptions } from './source.ts'

/** `since`: the first day; null for that of the oldest file. `until`: the last day. */
type SyncOptions = {
  folder: string
  followup: Followup | undefined
  since: Day | null
  until: Day
  signal: AbortSignal
}
type Followup = 7 | 30

/** `missing`: there is no file of the day for this account. */
type SyncedDay = { date: Day; name: string; bytes: number | null; state: 'fetched' | 'present' | 'missing' }

type SnapshotOptions = ServerOptions &
  OutputOptions & { enriched?: true; download?: true; parquet?: true; output?: string }

const REPORT_FIELDS = ['generated', 'domains', 'size', 'filename', 'format', 'enriched_available']
const DOWNLOAD_FIELDS = ['generated', 'domains', 'filename', 'format', 'bytes', 'path']

const SNAPSHOT_HELP = `
The snapshot lists all known domains. A download is verified by its digest and renamed to its name at the end. If it is
stopped, the same command resumes it, unless a newer snapshot was built. --output - writes the compressed file to
standard output.`

type DailyOptions = ServerOptions &
  OutputOptions & { followup?: '7' | '30'; output?: string; sync?: string; since?: Day; until?: Day }

const FIELDS = ['date', 'name', 'state', 'bytes', 'path']
const SHAPE: RowShape = { fields: FIELDS, columns: FIELDS }

const DAILY_HELP = `
A day is that of the registration (UTC). A download is verified by its digest and renamed to its name at the end. If it
is stopped, the same command resumes it. --output - writes the compressed file to standard output.

--sync fetches the files that FOLDER lacks or that were built again, from the oldest file or --since to yesterday or
--until. It prints a row for each file that it fetched and for each day without a file (state "missing"). If there are
such days, the exit code is 8.`

export function defineDaily(command: Command): void {
  command
    .argument('[date]', 'the day, such as 2026-11-19', parseDayArgument)
    .addOption(new Option('--followup <days>', 'the CSV file that was built so many days later').choices(['7', '30']))
    .option('--output <path>', 'the file or folder to write; - is standard output; by default this folder')
    .addOption(new Option('--sync <folder>', 'fetch all files that this folder lacks').conflicts('output'))
    .option('--since <day>', 'with --sync: the first day', parseDayArgument)
    .option('--until <day>', 'with --sync: the last day', parseDayArgument)
    .addHelpText('after', `${DAILY_HELP}\n\n${EXIT_CODES_HELP}`)
    .action(runDaily)
  addServerOptions(addOutputOptions(command))
}

async function runDaily(date: Day | undefined, options: DailyOptions): Promise<void> {
  const { sync, since, until, output } = options
  if ((date === undefined) === (sync === undefined)) throw new UsageFault('name a day, or a folder with --sync')
  if (sync === undefined && (since ?? until) !== undefined) throw new UsageFault('--since and --until need --sync')
  requireFileOutput(output)
  const writer = openRowWriter(SHAPE, options, date !== undefined)
  const task = sync === undefined ? null : syncTask(sync, options)
  await withAnswerSource(options, writer, ({ client }, signal) =>
    task === null
      ? downloadDay(client, date!, options, writer, signal)
      : syncFolder(client, { ...task, signal }, writer),
  )
}

const followupOf = ({ followup }: DailyOptions): Followup | undefined =>
  followup === undefined ? undefined : followup === '7' ? 7 : 30

async function downloadDay(
  client: DomaindexClient,
  date: Day,
  options: DailyOptions,
  writer: RowWriter,
  signal: AbortSignal,
): Promise<void> {
  const name = dailyFileName(date, followupOf(options))
  const saved = await downloadOneFile(client, name, options.output, signal)
  if (saved !== null) await writer.write([{ date, name, state: 'fetched', ...saved }])
}

/** What to synchronize. Throws UsageFault if there is no day. */
function syncTask(folder: string, options: DailyOptions): Omit<SyncOptions, 'signal'> {
  const { since = null } = options
  const followup = followupOf(options)
  const yesterday = addDays(dayOf(Math.floor(Date.now() / 1000)), -1)
  const until = options.until ?? addDays(yesterday, -(followup ?? 0))
  if (since !== null && since > until) throw new UsageFault(`--since ${since} is after the last day, ${until}`)
  return { folder, followup, since, until }
}

async function syncFolder(client: DomaindexClient, options: SyncOptions, writer: RowWriter): Promise<void> {
  const counts: Record<SyncedDay['state'], number> = { fetched: 0, present: 0, missing: 0 }
  try {
    for await (const day of syncDaily(client, options)) {
      counts[day.state]++
      if (day.state !== 'present') await writer.write([day])
    }
  } finally {
    await writer.end()
    const { fetched, present, missing } = counts
    reportLine(`${fetched} fetched, ${present} already there, ${missing} without a file`)
  }
  if (counts.missing > 0) process.exitCode = EXIT_CODES[counts.fetched + counts.present > 0 ? 'partial' : 'noData'][0]
}

/** `domaindex snapshot`: prints the report on the newest snapshot, or downloads it. */
export function defineSnapshot(command: Command): void {
  command
    .option('--enriched', 'the edition with website, mail and SSL columns')
    .option('--download', 'download the file')
    .option('--parquet', 'download it as Parquet, if the server builds that (DOMAINDEX_SNAPSHOT_PARQUET)')
    .addOption(
      new Option('--output <path>', 'the file or folder to write; - is standard output; by default this folder'),
    )
    .addHelpText('after', `${SNAPSHOT_HELP}\n\n${EXIT_CODES_HELP}`)
    .action(runSnapshot)
  addServerOptions(addOutputOptions(command))
}

async function runSnapshot(options: SnapshotOptions): Promise<void> {
  const { enriched = false, output } = options
  const isDownload = options.download === true || options.parquet === true || output !== undefined
  requireFileOutput(output)
  const fields = isDownload ? DOWNLOAD_FIELDS : REPORT_FIELDS
  const writer = openRowWriter({ fields, columns: fields }, options, true)
  await withAnswerSource(options, writer, async ({ client }, signal) => {
    const { meta } = await client.snapshot({ enriched, signal })
    if (!isDownload) return writer.write([meta])
    const filename = options.parquet ? meta.filename.replace(/\.(txt|csv)\.gz$/, '.parquet') : meta.filename
    const saved = await downloadOneFile(client, filename, output, signal)
    if (saved !== null) await writer.write([{ ...meta, filename, ...saved }])
  })
}

/** Yields the days in order. Throws the errors of the client library; what was fetched before stays. */
async function* syncDaily(client: DomaindexClient, options: SyncOptions): AsyncGenerator<SyncedDay, void, void> {
  const { folder, since, until, signal } = options
  const entries = await listEntries(client, options)
  if (entries.size === 0) await requireAccess(client, options)
  const progress = startProgress('MB')
  try {
    const first = since ?? entries.keys().next().value ?? until
    for (let date = first; date <= until; date = addDays(date, 1)) {
      const name = dailyFileName(date, options.followup)
      const entry = entries.get(date)
      if (entry === undefined) yield { date, name, bytes: null, state: 'missing' }
      else if (isPresent(entry, join(folder, name))) yield { date, name, bytes: entry.bytes, state: 'present' }
      else {
        const bytes = await saveFile(client, name, join(folder, name), { signal, progress })
        setModified(entry, join(folder, name))
        yield { date, name, bytes, state: 'fetched' }
      }
    }
  } finally {
    progress.end()
  }
}

/** The name of the file of a day on the server and in the folder. */
function dailyFileName(date: Day, followup: Followup | undefined): string {
  return followup === undefined ? `${date}.txt.gz` : `${date}-followup-${followup}.csv.gz`
}

/** The available files by day, oldest first. The list costs no call. */
async function listEntries(
  client: DomaindexClient,
  { followup, since, until, signal }: SyncOptions,
): Promise<Map<Day, FileEntry>> {
  const kind = followup === undefined ? 'daily' : `followup-${followup}`
  const entries = new Map<Day, FileEntry>()
  for await (const entry of client.fileEntries({ signal })) {
    const date = entry.date as Day
    if (entry.kind === kind && date <= until && (since === null || date >= since)) entries.set(date, entry)
  }
  return entries
}

/** Throws if the account may not fetch the file of the last day. If only the file is missing, the call is charged. */
async function requireAccess(client: DomaindexClient, { until, followup, signal }: SyncOptions): Promise<void> {
  try {
    const { body } = await client.downloadFile(dailyFileName(until, followup), { signal })
    await body.cancel()
  } catch (error) {
    if (!(error instanceof DomaindexError) || error.error !== 'no_data') throw error
  }
}

/** A file has the size and the time of the one on the server. A file that was built again has another time. */
function isPresent({ bytes, last_modified }: FileEntry, path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  return status !== undefined && status.size === bytes && Math.floor(status.mtimeMs) === Date.parse(last_modified)
}

function setModified({ last_modified }: FileEntry, path: string): void {
  const time = new Date(last_modified)
  utimesSync(path, time, time)
}
