/** `domaindex fetch list`: adds the names of a public list to the store, the most popular ones first. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { type FetchedList, fetchList } from '../../fetch/list/fetch-list.ts'
import { KNOWN_LISTS, type KnownList } from '../../fetch/list/known-lists.ts'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import type { RejectedEntry } from '../../registrations/import-options.ts'
import { openStoreWaitingForSpace } from '../../server/disk-space.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'
import { userAgent } from './user-agent.ts'

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

export function defineFetchList(command: Command): void {
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
