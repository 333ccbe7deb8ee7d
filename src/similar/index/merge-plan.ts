/** Decides which segments to merge. More segments make queries slower, and more merges make indexing slower. */

import type { Segment } from '../../store/port/similar.ts'

/** Segments with at most this many documents in total are always merged. */
const MIN_SEGMENT_DOCUMENTS = 64
/** At this many segments, indexing waits for a merge, because a query reads all segments. */
export const MAX_SEGMENTS = 32
/** A segment is merged with the following ones if its size is at most this multiple of theirs. */
const MERGE_RATIO = { busy: 1 / 3, idle: 4 } as const

/**
 * Returns the segments to merge, in order, or none. While pages wait, four segments of one size become one. When no
 * page waits, each remaining segment is more than four times as large as all that follow. If there are still too many
 * segments, returns the later half.
 */
export function segmentsToMerge(segments: readonly Segment[], load: keyof typeof MERGE_RATIO): readonly Segment[] {
  let following = 0
  let from = segments.length
  for (let at = segments.length - 1; at >= 0; at--) {
    const { documents } = segments[at]!
    if (following > 0 && (documents <= MERGE_RATIO[load] * following || documents + following <= MIN_SEGMENT_DOCUMENTS))
      from = at
    following += documents
  }
  const merged = segments.slice(from)
  if (merged.length > 1) return merged
  return segments.length < MAX_SEGMENTS ? [] : segments.slice(-MAX_SEGMENTS / 2)
}
