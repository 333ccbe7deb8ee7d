/** Merges consecutive segments into one: reads their rows in parallel and drops deleted documents. */

import type { PostingRow, SimilarIndexStore, SimilarReader } from '../../store/port/similar.ts'
import { type PostingGroup, termOfKey, unpackPostingRow } from '../postings/postings.ts'
import { mergedTermCursor } from '../query/build-idf-table.ts'
import type { SegmentWriter } from './segment-writer.ts'
import type { Tombstones } from './tombstones.ts'

/** Rows per read, about 150 KB. */
const ROWS_PER_READ = 256

/** A cursor over the posting groups of a segment. */
type PostingCursor = { group: PostingGroup | null; next(): Promise<void> | void }

/** The source of segments. */
export type SegmentSource = Pick<SimilarReader, 'frequencies'> & Pick<SimilarIndexStore, 'rows'>

/** Writes the segments, in order, as one. Yields whenever other work may run. */
export async function* mergeSegments(
  source: SegmentSource,
  segments: readonly number[],
  tombstones: Tombstones,
  writer: SegmentWriter,
): AsyncGenerator<void, void> {
  const cursors = await Promise.all(segments.map((segment) => postingCursor(source, segment)))
  for (const counts = await mergedTermCursor(source, segments); counts.term !== Number.POSITIVE_INFINITY; ) {
    const { groups, posted, dropped } = await groupsOfTerm(cursors, counts.term, tombstones)
    const count = counts.count - deletedShare(counts.count, posted, dropped)
    if (count > 0) writer.add(counts.term, groups, count)
    const more = counts.next()
    if (more) await more
    if (!writer.isFull) continue
    await writer.flush()
    yield
  }
  await writer.end()
}

/**
 * The number of deleted documents among all that contain a term. Not all of these have a posting, so those without one
 * are estimated: otherwise they would count forever.
 */
function deletedShare(count: number, posted: number, dropped: number): number {
  return posted === 0 ? 0 : Math.round((count * dropped) / posted)
}

/**
 * The posting groups of a term, joined by key: a later segment has higher documents. `posted`: its postings. `dropped`:
 * those of deleted documents, which are left out.
 */
async function groupsOfTerm(
  cursors: readonly PostingCursor[],
  term: number,
  tombstones: Tombstones,
): Promise<{ groups: PostingGroup[]; posted: number; dropped: number }> {
  const found: PostingGroup[] = []
  let [posted, dropped] = [0, 0]
  for (const cursor of cursors) {
    while (cursor.group !== null && termOfKey(cursor.group.key) === term) {
      const { key, documents } = cursor.group
      const remaining = tombstones.filter(documents)
      posted += documents.length
      dropped += documents.length - remaining.length
      if (remaining.length > 0) found.push({ key, documents: remaining })
      const more = cursor.next()
      if (more) await more
    }
  }
  return { groups: found.length > 1 ? joinGroupsByKey(found) : found, posted, dropped }
}

/** Joins groups of the same key, in order of key. The sort keeps the order of groups of one key. */
function joinGroupsByKey(found: PostingGroup[]): PostingGroup[] {
  found.sort((a, b) => a.key - b.key)
  const groups: PostingGroup[] = []
  for (let from = 0, end = 1; from < found.length; from = end++) {
    while (end < found.length && found[end]!.key === found[from]!.key) end++
    const parts = found.slice(from, end)
    groups.push(parts.length === 1 ? parts[0]! : { key: parts[0]!.key, documents: concatDocuments(parts) })
  }
  return groups
}

function concatDocuments(parts: readonly PostingGroup[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { documents }) => sum + documents.length, 0))
  let at = 0
  for (const { documents } of parts) {
    all.set(documents, at)
    at += documents.length
  }
  return all
}

/** Returns the groups of a segment in order. A group that spans two rows comes in two parts. */
async function postingCursor(source: SegmentSource, segment: number): Promise<PostingCursor> {
  let rows: PostingRow[] = []
  let groups: PostingGroup[] = []
  let [row, place] = [0, 0]
  let last: { key: number; document: number } | null = null
  const cursor: PostingCursor = { group: null, next }
  function next(): Promise<void> | void {
    if (place < groups.length) cursor.group = groups[place++]!
    else if (row < rows.length) openRow()
    else return readOn()
  }
  function openRow(): void {
    last = rows[row]!
    groups = unpackPostingRow(rows[row++]!.postings)
    cursor.group = groups[0]!
    place = 1
  }
  async function readOn(): Promise<void> {
    rows = await source.rows(segment, last, ROWS_PER_READ)
    row = 0
    if (rows.length === 0) cursor.group = null
    else openRow()
  }
  await next()
  return cursor
}
