/** Slices of what visits saw: held back until the crawl has found its eyes good after them, then saved, or thrown away. */

import { outcomesOf } from './outcomes.ts'
import { save } from './save.ts'
import { judgeOutcomes, type SelfCheck, trustEyes } from './self-check.ts'
import { type Span, Trouble } from './span.ts'
import { SLICE } from './visits.ts'

/** Milliseconds after which the visits are saved when no other one is under way. */
const QUIET = 1_000

/** Trusts and saves until the span ends. Throws Trouble where eyes are not good. */
export async function settleOn(span: Span): Promise<void> {
  while (!span.isEnding) {
    await span.over.wait(untilCut(span))
    if (!span.isEnding && untilCut(span) <= 0) await settle(span)
  }
}

/** Milliseconds until the slice is cut off, or, where nothing was seen, control questions are asked again. */
function untilCut({ crawl, seen, oldest, trusted, flying }: Span): number {
  if (seen.length >= SLICE) return 0
  const { clock, times } = crawl
  const begun = seen.length === 0 ? trusted : oldest
  return begun + (flying === 0 && seen.length > 0 ? Math.min(QUIET, times.slice) : times.slice) - clock.ticks()
}

/** What was seen until now is saved, if control questions that are asked now are answered as they must be. */
export async function settle(span: Span): Promise<void> {
  const { crawl } = span
  const cut = span.seen
  span.seen = []
  span.oldest = crawl.clock.ticks()
  try {
    await trust(span)
    if (cut.length > 0) await judgeOutcomes(selfCheckOf(span), outcomesOf(cut))
    if (cut.length > 0) await save(span, cut)
  } catch (error) {
    if (cut.length > 0) crawl.figures.slices.thrown++
    throw error
  }
  if (cut.length > 0) crawl.figures.slices.saved++
  span.trusted = crawl.clock.ticks()
  span.turn.ring()
  await span.release()
}

/** Throws Trouble where control questions are not answered as they must be, and where nothing could be saved. */
export async function trust({ crawl }: Span): Promise<void> {
  const lack = (await crawl.lack?.()) ?? null
  if (lack !== null) throw new Trouble('disk', lack)
  await trustEyes(crawl)
}

function selfCheckOf({ crawl, memory }: Span): SelfCheck {
  const { look, say, store } = crawl
  return { look, say, memory, history: (since) => store.schedule.outcomes(since), now: () => store.now() }
}
