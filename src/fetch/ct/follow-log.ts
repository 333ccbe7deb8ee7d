/** Follows one certificate log: from a state to its current head, in verified batches. */

import type { DomainName } from '../../values/domain-name.ts'
import type { EntrySource } from './log/entry-source.ts'
import type { LogGet } from './log/log-client.ts'
import { addEntryNames, type EntryNames } from './log/log-entry.ts'
import { openRfc6962Source } from './log/rfc6962-source.ts'
import { openTileSource } from './log/tile-source.ts'
import type { TreeHead } from './log/tree-head.ts'
import { type CertificateLog, type LogBatch, LogFault, type LogState } from './log.ts'

/** Entries per batch, about. */
const BATCH_ENTRIES = 4_096

/**
 * Yields the entries from `state` to the current head, then ends. Without a state, it begins `startBack` entries before
 * the head, at least one. If there are no new entries, it yields a batch without entries. Throws LogFault and
 * LogUnavailable.
 */
export async function* followLog(
  log: CertificateLog,
  state: LogState | null,
  { startBack, get }: { startBack: number; get: LogGet },
): AsyncGenerator<LogBatch> {
  const source = log.kind === 'tiles' ? openTileSource(log, get) : openRfc6962Source(log, get)
  const head = await source.head()
  const start = state === null ? await firstState(source, head, startBack) : state
  if (state !== null) await requireSuccessor(source, state.head, head)
  const kept = { size: head.size, root: head.root.toString('base64'), time: head.time }
  let [position, hashes] = [start.position, start.hashes]
  let batch = emptyBatch()
  if (position === head.size) {
    yield { ...batch, names: [], newest: head.time, state: { ...start, head: kept } }
    return
  }
  for await (const verified of source.entries(start, head)) {
    for (const entry of verified.entries) addEntryNames(batch, entry)
    batch.entries += verified.entries.length
    batch.newest = verified.entries.at(-1)?.time ?? batch.newest
    position += verified.entries.length
    hashes = verified.hashes
    if (batch.entries < BATCH_ENTRIES && position < head.size) continue
    yield { ...batch, names: [...batch.names], state: { position, hashes, head: kept } }
    batch = emptyBatch()
  }
}

type OpenBatch = EntryNames & Pick<LogBatch, 'entries' | 'newest'>

function emptyBatch(): OpenBatch {
  return { names: new Set<DomainName>(), unusableNames: 0, unusableEntries: 0, entries: 0, newest: 0 }
}

/** At least one entry before the end, so that the start can be proved. */
async function firstState(
  source: EntrySource,
  head: TreeHead,
  startBack: number,
): Promise<Pick<LogState, 'position' | 'hashes'>> {
  if (head.size === 0) return { position: 0, hashes: [] }
  return source.startAt(Math.max(0, head.size - Math.max(1, startBack)), head)
}

/** Throws LogFault unless the head follows the former one. */
async function requireSuccessor(source: EntrySource, former: LogState['head'], head: TreeHead): Promise<void> {
  if (head.size < former.size) throw new LogFault(`its tree head went back from ${former.size} to ${head.size} entries`)
  await source.requireConsistency(former, head)
}
