/** Follows one certificate log: from a state to its current head, in verified batches. */

import { type EntrySource, MAX_NAMES_IN_MEMORY } from './log/entry-source.ts'
import type { LogClient } from './log/log-client.ts'
import { addSummary, emptySummary } from './log/log-entry.ts'
import { openRfc6962Source } from './log/rfc6962-source.ts'
import { openTileSource } from './log/tile-source.ts'
import type { TreeHead } from './log/tree-head.ts'
import { type CertificateLog, type LogBatch, LogFault, type LogState, LogUnavailable } from './log.ts'

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
  { startBack, client }: { startBack: number; client: LogClient },
): AsyncGenerator<LogBatch> {
  const source = log.kind === 'tiles' ? openTileSource(log, client) : openRfc6962Source(log, client)
  const head = await source.head()
  const start = state === null ? await firstState(source, head, startBack) : state
  if (state !== null) await requireSuccessor(source, state.head, head)
  const kept = { size: head.size, root: head.root.toString('base64'), time: head.time }
  let [position, hashes] = [start.position, start.hashes]
  let batch = emptySummary()
  if (position === head.size) {
    yield { ...batch, names: [], newest: head.time, state: { ...start, head: kept } }
    return
  }
  for await (const verified of source.entries(start, head)) {
    addSummary(batch, verified.summary)
    position += verified.summary.entries
    hashes = verified.hashes
    const isFull = batch.entries >= BATCH_ENTRIES || batch.names.size >= MAX_NAMES_IN_MEMORY
    if (!isFull && position < head.size) continue
    yield { ...batch, names: [...batch.names], state: { position, hashes, head: kept } }
    batch = emptySummary()
  }
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

/**
 * Throws LogFault unless the head follows the former one, and LogUnavailable if it is an earlier one of the same tree:
 * servers of one log may differ for a while. Each tree is signed later than the one before it (RFC 6962, section 3.5).
 */
async function requireSuccessor(source: EntrySource, former: LogState['head'], head: TreeHead): Promise<void> {
  if (head.size < former.size) {
    const earlier = { size: head.size, root: head.root.toString('base64'), time: head.time }
    await source.requireConsistency(earlier, { ...former, root: Buffer.from(former.root, 'base64') })
    throw new LogUnavailable(`its tree head has ${head.size} entries, and an earlier one had ${former.size}`)
  }
  if (head.size > former.size && head.time < former.time)
    throw new LogFault(`its tree of ${head.size} entries was signed before that of ${former.size}`)
  await source.requireConsistency(former, head)
}
