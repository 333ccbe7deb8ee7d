/** `domaindex daily`: downloads the domains that were registered on a day, or all files that a folder lacks. */

import { type Command, Option } from 'commander'
import type { DomaindexClient } from '../../client/src/client.ts'
import { UsageFault } from '../config/command-fault.ts'
import { addDays, type Day, dayOf } from '../values/time.ts'
import { downloadOneFile, requireFileOutput } from './download/one-file.ts'
import { dailyFileName, type Followup, type SyncedDay, type SyncOptions, syncDaily } from './download/sync-daily.ts'
import { EXIT_CODES, EXIT_CODES_HELP } from './program/client-fault.ts'
import { parseDayArgument } from './program/day-argument.ts'
import { reportLine } from './program/terminal-text.ts'
import { addOutputOptions, addServerOptions, withAnswerSource } from './query/query-command.ts'
import { type OutputOptions, openRowWriter, type RowShape, type RowWriter } from './query/row-writer.ts'
import type { ServerOptions } from './query/source.ts'

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
