/** Reads a page of spans of the inverse index at a moment, or in a time. */

import type { TimeFence } from '../store/port/inverse.ts'
import { yieldToEventLoop } from '../store/shared/event-loop.ts'
import type { Instant } from '../values/time.ts'

/** A moment or a time. Both ends of a time are included; null: open. */
export type TimeQuestion = { at: Instant } | { from: Instant | null; to: Instant | null }

type Span = { first: Instant; last: Instant }
/** `position`: where the next page starts; null at the end. A page may be short, and even empty, before the end. */
type Page<Found extends Span> = { spans: Found[]; position: Uint8Array | null }

/**
 * The spans of a question. `wasNewest`: whether a store that ended at a moment would show a span that ended before it,
 * because nothing newer was observed.
 */
export type SpanSource<Found extends Span> = {
  read(fence: TimeFence, position: Uint8Array | null, limit: number): Promise<Page<Found>>
  wasNewest(span: Found, moment: Instant): Promise<boolean>
}

/** Spans that are read at once, and reads of one page. */
const SPANS_PER_READ = 1_000
const MAX_READS = 60
/** Names of one page whose state is read, and how many of them at once. */
const MAX_CHECKS = 2_000
const CHECKS_AT_ONCE = 50

/** Reads a page in the order of the index. */
export async function readSpanPage<Found extends Span>(
  source: SpanSource<Found>,
  question: TimeQuestion,
  after: Uint8Array | null,
  limit: number,
): Promise<Page<Found>> {
  const moment = 'at' in question ? question.at : null
  const fence = fenceOf(question)
  const spans: Found[] = []
  let position = after
  let checks = 0
  for (let reads = 0; reads < MAX_READS && spans.length < limit && checks < MAX_CHECKS; reads++) {
    const count = Math.min(SPANS_PER_READ, limit - spans.length, moment === null ? limit : MAX_CHECKS - checks)
    const page = await source.read(fence, position, count)
    if (moment === null) spans.push(...page.spans)
    else {
      checks += page.spans.filter((span) => span.last < moment).length
      spans.push(...(await shownAt(source, page.spans, moment)))
    }
    position = page.position
    if (position === null) break
    await yieldToEventLoop()
  }
  return { spans, position }
}

function fenceOf(question: TimeQuestion): TimeFence {
  if ('at' in question) return { firstBefore: question.at + 1 }
  const { from, to } = question
  return { ...(to !== null && { firstBefore: to + 1 }), ...(from !== null && { lastAfter: from - 1 }) }
}

/** Those of some spans that began by a moment which a store that ended then would show. */
async function shownAt<Found extends Span>(
  { wasNewest }: SpanSource<Found>,
  spans: readonly Found[],
  moment: Instant,
): Promise<readonly Found[]> {
  const shown: Found[] = []
  for (let start = 0; start < spans.length; start += CHECKS_AT_ONCE) {
    const some = spans.slice(start, start + CHECKS_AT_ONCE)
    const checks = await Promise.all(some.map((span) => span.last >= moment || wasNewest(span, moment)))
    shown.push(...some.filter((_, index) => checks[index]))
  }
  return shown
}
