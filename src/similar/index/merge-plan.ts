/**
 * Which segments are to be merged: the more there are, the dearer a query; the more often they are merged, the dearer a
 * page.
 */

import type { Segment } from '../../store/port/similar.ts'

/** Segments that have so few wordings together are always merged. */
const MIN_SEGMENT_DOCUMENTS = 64
/** With so many segments nothing is filed until some are merged: a query reads all of them. */
export const MOST_SEGMENTS = 32
/** A segment is merged with those that follow once it has at most so many times their wordings. */
const MERGE_RATIO = { busy: 1 / 3, idle: 4 } as const

/**
 * The segments, in their order, of which one is to be made; empty for none. While pages wait, four segments of a size
 * make one four times that size; when none wait, each is more than four times as large as all that follow. Where there
 * are too many all the same, the later half of them.
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
  return segments.length < MOST_SEGMENTS ? [] : segments.slice(-MOST_SEGMENTS / 2)
}
