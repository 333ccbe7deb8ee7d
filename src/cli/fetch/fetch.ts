/** `domaindex fetch`: fetches names from their publishers, with one subcommand for each source. */

import { createWriteStream, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { type FetchedList, fetchList } from '../../fetch/list/fetch-list.ts'
import { KNOWN_LISTS, type KnownList } from '../../fetch/list/known-lists.ts'
import { errorCause, InputError, StorageError } from '../../import/stream/input-error.ts'
import type { RejectedEntry } from '../../registrations/import-options.ts'
import { type FollowEvents, type FollowOptions, followConfiguredLogs } from '../../server/certificate-logs/run.ts'
import { type LogStatus, readLogStatus } from '../../server/certificate-logs/status.ts'
import { openStoreWaitingForSpace } from '../../server/disk-space.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { alignedColumns, listenForStop, printResult, startProgress } from '../program/output.ts'
import { userAgent } from './user-agent.ts'
import { defineFetchAxfr, defineFetchCzds } from './zones.ts'

const LIST_HELP = `
Lists: ${Object.entries(KNOWN_LISTS)
  .map(([name, { terms }]) => `${name} (${terms})`)
  .join('; ')}.
radar needs DOMAINDEX_RADAR_TOKEN. A URL names a list of your own: plain, or compressed by gzip, zstd or
zip; one name or RANK,NAME per line, or CSV with --column.

The command replaces each name by its registrable domain and stores the domains that the store lacks.
The crawler probes them in the order of the list. They count as registered on no day. An unusable list
changes nothing.

Exit codes: 0 the names are stored, 1 the list is unusable.`

/** Rejected lines that are printed. Lists of host names have many lines such as "com". */
const MAX_PRINTED_REJECTS = 3

type ListOptions = { column?: string; json?: true }
type ChosenList = Pick<KnownList, 'urls' | 'column'> & { token: string | null }

const CT_HELP = `
The command follows every log of DOMAINDEX_CT_LIST that is usable or qualified until Ctrl-C. It verifies
that each entry belongs to the signed tree of its log. A log that contradicts itself is left out, until
--readmit. Several processes share the logs. A new log begins DOMAINDEX_CT_START_BACK entries before its
end; a known one continues.

The registrable domains in certificates become known and are due for a probe. They are registered on no
day, so no daily file lists them.

Exit codes: 0 every log was read, 1 some logs could not be read.`

type CtOptions = {
  list?: string
  listKey?: string
  log?: string
  logKey?: string
  names?: string
  once?: true
  readmit?: true
  status?: true
  json?: true
}

/** What was read of a log, for the end of the command. */
type LogSummary = { entries: number; newNames: number; problem: string | null }

export function defineFetch(command: Command): void {
  defineFetchAxfr(command)
  defineFetchCt(command)
  defineFetchCzds(command)
  defineFetchList(command)
}

/** `domaindex fetch ct`: follows certificate logs and adds the names of their certificates to the store. */
function defineFetchCt(command: Command): void {
  command
    .command('ct')
    .description('follow certificate logs and add their names to the store')
    .option('--list <url or file>', 'the list of logs, instead of DOMAINDEX_CT_LIST')
    .option('--list-key <file>', 'the public key that signs the list, instead of DOMAINDEX_CT_LIST_KEY')
    .option('--log <url>', 'follow only this log')
    .option('--log-key <file>', 'the public key of that log, if the list does not have it')
    .option('--names <file>', 'also append the names to a file, except those that were seen lately')
    .option('--once', 'read each log to its end, and end')
    .option('--readmit', 'take logs back in that were left out')
    .option('--status', 'print how far each log was read, and end')
    .option('--json', 'print one JSON object: logs')
    .addHelpText('after', CT_HELP)
    .action(fetchCt)
}

async function fetchCt(options: CtOptions): Promise<void> {
  const { list, listKey, log, logKey, names, once, readmit, status, json } = options
  if (logKey !== undefined && log === undefined) throw new UsageFault('--log-key is only for --log')
  const loaded = loadSettings()
  const settings = { ...loaded, ctList: list ?? loaded.ctList, ctListKey: listKey ?? loaded.ctListKey }
  if (status) return printStatus(json)
  const file = names === undefined ? null : openNamesFile(names)
  const follow = { log: log ?? null, logKey: logKey ?? null, isOnce: once ?? false, isReadmitted: readmit ?? false }
  const logs = await followUntilStop(settings, follow, file)
  if (file !== null) await closeNamesFile(file)
  const rows = [...logs].map(([url, each]) => ({ url, ...each }))
  const lines = rows.map(
    ({ url, entries, newNames, problem }) =>
      `${url}: entries ${entries}, new ${newNames}${problem === null ? '' : `; ${problem}`}`,
  )
  printResult(json, { logs: rows }, lines)
  if (rows.some(({ problem }) => problem !== null)) process.exitCode = 1
}

/** Follows until it is done or stopped. Returns what was read of each log, by URL. */
async function followUntilStop(
  settings: Settings,
  follow: FollowOptions,
  file: WriteStream | null,
): Promise<Map<string, LogSummary>> {
  const stop = listenForStop()
  const progress = startProgress('entries')
  const store = await openStoreWaitingForSpace(settings, [], stop.signal)
  const logs = new Map<string, LogSummary>()
  try {
    await followConfiguredLogs(settings, store, follow, eventsFor(logs, file, progress), stop.signal)
  } finally {
    progress.end()
    await store.close()
    stop.end()
  }
  return logs
}

/** Adds what happens to the summaries, shows the progress, and prints problems. */
function eventsFor(
  logs: Map<string, LogSummary>,
  file: WriteStream | null,
  progress: ReturnType<typeof startProgress>,
): FollowEvents {
  const summaryOf = (url: string): LogSummary => {
    const summary = logs.get(url) ?? { entries: 0, newNames: 0, problem: null }
    logs.set(url, summary)
    return summary
  }
  const sum = (key: 'entries' | 'newNames'): number => [...logs.values()].reduce((total, each) => total + each[key], 0)
  return {
    warn: (message) => console.error(`domaindex: ${message}`),
    onNames: (names) => void file?.write(`${names.join('\n')}\n`),
    onBatch({ url }, { entries }, newNames) {
      const summary = summaryOf(url)
      summary.entries += entries
      summary.newNames += newNames
      summary.problem = null
      progress.show(sum('entries'), null, { more: `${sum('newNames')} new names` })
    },
    onProblem({ url }, message, isLeftOut) {
      const problem = isLeftOut ? `left out: ${message}` : message
      summaryOf(url).problem = problem
      progress.end()
      console.error(`${url}: ${problem}`)
    },
  }
}

function openNamesFile(path: string): WriteStream {
  const file = createWriteStream(path, { flags: 'a' })
  file.on('error', (error) => {
    console.error(`domaindex: ${path} cannot be written: ${errorCause(error)}`)
    process.exit(1)
  })
  return file
}

async function closeNamesFile(file: WriteStream): Promise<void> {
  file.end()
  await finished(file).catch((error) => {
    throw new CommandFault(`the file of names cannot be written: ${errorCause(error)}`)
  })
}

async function printStatus(json: true | undefined): Promise<void> {
  const logs = await withExistingStore('read', readLogStatus)
  const rows = logs.map((log) => [
    log.url,
    positionText(log),
    `lag ${log.lag ?? '-'} s`,
    `new ${log.newNames}`,
    stateText(log),
  ])
  printResult(json, { logs }, logs.length === 0 ? ['no certificate log was read yet'] : alignedColumns(rows))
}

function positionText({ position, size }: LogStatus): string {
  return position === null ? 'not read yet' : `${position} of ${size}`
}

function stateText({ problem, holder }: LogStatus): string {
  if (problem !== null) return `left out: ${problem}`
  return holder === null ? 'nobody reads it' : `read by ${holder}`
}

/** `domaindex fetch list`: adds the names of a public list to the store, the most popular ones first. */
function defineFetchList(command: Command): void {
  command
    .command('list')
    .description('fetch a list of popular names into the store')
    .argument('<list>', `${Object.keys(KNOWN_LISTS).join(', ')}, or a URL`)
    .option('--column <column>', 'the header of the column with the names, or its number from 1')
    .option('--json', 'print one JSON object: names, unusable, newNames, seconds')
    .addHelpText('after', LIST_HELP)
    .action(fetchListCommand)
}

async function fetchListCommand(list: string, options: ListOptions): Promise<void> {
  const settings = loadSettings()
  const chosen = chooseList(list, options.column, settings)
  const stop = listenForStop()
  const progress = startProgress('bytes')
  const nameProgress = startProgress('names')
  const rejects: RejectedEntry[] = []
  const endProgress = (): void => {
    progress.end()
    nameProgress.end()
  }
  try {
    const store = await openStoreWaitingForSpace(settings, [], stop.signal)
    try {
      const fetched = await fetchList({
        ...chosen,
        store,
        signal: stop.signal,
        agent: userAgent(),
        wait: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
        onBytes: (bytes, of) => progress.show(bytes, of === null ? null : bytes / of, { more: list }),
        onLines() {},
        onNames: (names) => nameProgress.show(names, null, { more: 'stored' }),
        onReject: (reject) => rejects.length < MAX_PRINTED_REJECTS && rejects.push(reject),
      })
      endProgress()
      report(fetched, rejects, nameProgress.seconds(), options.json)
    } finally {
      await store.close()
    }
  } catch (error) {
    endProgress()
    if (error instanceof StorageError) throw new CommandFault(error.message)
    if (error instanceof InputError) throw new CommandFault(`${list}: ${error.message}; nothing of it is stored`)
    if ((error as Error).name !== 'AbortError') throw error
    console.error('stopped; run it again to store the rest')
  } finally {
    stop.end()
  }
}

/** Throws CommandFault if the list is unknown or needs a token that is not set. */
function chooseList(list: string, column: string | undefined, { radarToken }: Settings): ChosenList {
  const known = Object.hasOwn(KNOWN_LISTS, list) ? KNOWN_LISTS[list]! : null
  if (known === null && !/^https?:\/\//.test(list))
    throw new UsageFault(`${list} is no list: name one of ${Object.keys(KNOWN_LISTS).join(', ')}, or a URL`)
  if (known !== null && column !== undefined) throw new UsageFault('--column is only for the URL of a list')
  if (known?.hasToken && radarToken === null)
    throw new CommandFault(`DOMAINDEX_RADAR_TOKEN has to be a token of Cloudflare that may read Radar`)
  return {
    urls: known?.urls ?? [list],
    column: known?.column ?? column ?? null,
    token: known?.hasToken ? radarToken : null,
  }
}

function report(
  fetched: FetchedList,
  rejects: readonly RejectedEntry[],
  seconds: number,
  json: true | undefined,
): void {
  const { names, unusable, newNames } = fetched
  for (const { line, reason } of rejects) console.error(`line ${line}: ${reason}`)
  if (unusable > rejects.length) console.error(`and ${unusable - rejects.length} more lines without a domain`)
  printResult(json, { ...fetched, seconds }, [
    `names ${names}, unusable ${unusable}, new ${newNames} (${seconds.toFixed(1)} s)`,
  ])
}
