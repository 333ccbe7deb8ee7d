/** Which segments are to be merged: the more there are, the dearer a query; the more often they are merged, the dearer a page. */

import type { Segment } from '../store/similar.ts'

/** Segments that have so few wordings together are always merged. */
const SMALL = 64
/** With so many segments nothing is filed until some are merged: a query reads all of them. */
export const MOST_SEGMENTS = 32
/** A segment is merged with those that follow once it has at most so many times their wordings. */
const RATIO = { busy: 1 / 3, idle: 4 } as const

/**
 * The segments, in their order, of which one is to be made; empty for none. While pages wait, four segments of a size make one
 * four times that size; when none wait, each is more than four times as large as all that follow. Where there are too many all the
 * same, the later half of them.
 */
export function mergeOf(segments: readonly Segment[], pace: keyof typeof RATIO): readonly Segment[] {
  let following = 0
  let from = segments.length
  for (let at = segments.length - 1; at >= 0; at--) {
    const { wordings } = segments[at]!
    if (following > 0 && (wordings <= RATIO[pace] * following || wordings + following <= SMALL)) from = at
    following += wordings
  }
  const merged = segments.slice(from)
  if (merged.length > 1) return merged
  return segments.length < MOST_SEGMENTS ? [] : segments.slice(-MOST_SEGMENTS / 2)
}
