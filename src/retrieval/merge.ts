/** Makes one segment of several that follow one another: their rows are read side by side, and wordings that are gone are left out. */

import { type Group, unpackRow, wordAt } from '../similar/postings.ts'
import type { Indexing, PostingRow, Similar } from '../store/similar.ts'
import type { Gone } from './gone.ts'
import { wordsOfAll } from './learn.ts'
import type { SegmentWriter } from './segment-writer.ts'

/** Rows read at a time: some 150 KB. */
const ROWS = 512

/** A walk along the groups of a segment. */
type GroupWalk = { group: Group | null; next(): Promise<void> | void }

/** Where segments are read. */
export type Source = Pick<Similar, 'frequencies'> & Pick<Indexing, 'rows'>

/** Writes all of the segments (in their order) as one; yields whenever something else may have its turn. */
export async function* merge(
  source: Source,
  segments: readonly number[],
  gone: Gone,
  writer: SegmentWriter,
): AsyncGenerator<void, void> {
  const walks = await Promise.all(segments.map((segment) => groupsOf(source, segment)))
  for (const counts = await wordsOfAll(source, segments); counts.word !== Number.POSITIVE_INFINITY; ) {
    const { groups, dropped } = await groupsOfWord(walks, counts.word, gone)
    const count = counts.count - dropped
    if (count > 0 && groups.length > 0) writer.add(counts.word, groups, count)
    const more = counts.next()
    if (more) await more
    if (!writer.isFull) continue
    await writer.flush()
    yield
  }
  await writer.end()
}

/** The groups of a word, those of one place joined: a later segment has higher wordings. `dropped`: wordings left out. */
async function groupsOfWord(
  walks: readonly GroupWalk[],
  word: number,
  gone: Gone,
): Promise<{ groups: Group[]; dropped: number }> {
  const found: Group[] = []
  let dropped = 0
  for (const walk of walks) {
    while (walk.group !== null && wordAt(walk.group.place) === word) {
      const { place, wordings } = walk.group
      const kept = gone.leaveOut(wordings)
      dropped += wordings.length - kept.length
      if (kept.length > 0) found.push({ place, wordings: kept })
      const more = walk.next()
      if (more) await more
    }
  }
  return { groups: found.length > 1 ? byPlace(found) : found, dropped }
}

/** One group a place, in order of place; sorting leaves those of one place in their order. */
function byPlace(found: Group[]): Group[] {
  found.sort((a, b) => a.place - b.place)
  const groups: Group[] = []
  for (let from = 0, end = 1; from < found.length; from = end++) {
    while (end < found.length && found[end]!.place === found[from]!.place) end++
    const parts = found.slice(from, end)
    groups.push(parts.length === 1 ? parts[0]! : { place: parts[0]!.place, wordings: joined(parts) })
  }
  return groups
}

function joined(parts: readonly Group[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { wordings }) => sum + wordings.length, 0))
  let at = 0
  for (const { wordings } of parts) {
    all.set(wordings, at)
    at += wordings.length
  }
  return all
}

/** The groups of a segment in their order; one that lies in two rows comes in two parts. */
async function groupsOf(source: Source, segment: number): Promise<GroupWalk> {
  let rows: PostingRow[] = []
  let groups: Group[] = []
  let [row, place] = [0, 0]
  let last: { place: number; wording: number } | null = null
  const walk: GroupWalk = { group: null, next }
  function next(): Promise<void> | void {
    if (place < groups.length) walk.group = groups[place++]!
    else if (row < rows.length) openRow()
    else return readOn()
  }
  function openRow(): void {
    last = rows[row]!
    groups = unpackRow(rows[row++]!.postings)
    walk.group = groups[0]!
    place = 1
  }
  async function readOn(): Promise<void> {
    rows = await source.rows(segment, last, ROWS)
    row = 0
    if (rows.length === 0) walk.group = null
    else openRow()
  }
  await next()
  return walk
}
