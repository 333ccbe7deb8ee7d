/** Brings a folder up to date with the daily files of a server. */

import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type DomaindexClient, DomaindexError, type FileEntry } from '../../../client/src/client.ts'
import { addDays, type Day } from '../../values/time.ts'
import { startProgress } from '../program/progress.ts'
import { saveFile } from './save-file.ts'

/** `since`: the first day; null for that of the oldest file. `until`: the last day. */
export type SyncOptions = {
  folder: string
  followup: Followup | undefined
  since: Day | null
  until: Day
  signal: AbortSignal
}
export type Followup = 7 | 30

/** `missing`: there is no file of the day for this account. */
export type SyncedDay = { date: Day; name: string; bytes: number | null; state: 'fetched' | 'present' | 'missing' }

/** Yields the days in order. Throws the errors of the client library; what was fetched before stays. */
export async function* syncDaily(client: DomaindexClient, options: SyncOptions): AsyncGenerator<SyncedDay, void, void> {
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
export function dailyFileName(date: Day, followup: Followup | undefined): string {
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
