/** The self-check of a crawl: control questions and outcome bands, by which lists and the loop decide whether to keep what they saw. */

import type { Outcomes } from '../store/schedule.ts'
import type { Instant } from '../words/time.ts'
import type { Sight } from './crawl.ts'
import { Trouble } from './span.ts'
import { judgeSlice, type Watch } from './watch.ts'

export type SelfCheck = {
  /** Asks the control questions. */
  look(): Promise<Sight>
  /** The outcomes that were saved since a moment; none where nothing is kept of them. */
  history(since: Instant): Promise<readonly Outcomes[]>
  now(): Promise<Instant>
  /** What is kept from slice to slice. */
  memory: { watch: Watch }
  say(news: string): void
}

/** Seconds. */
const WEEK = 604_800

/** Throws Trouble if control questions are not answered as they must be. */
export async function trustEyes({ look }: Pick<SelfCheck, 'look'>): Promise<void> {
  const sight = await look()
  if (!sight.sees) throw new Trouble('blind', sight.why)
}

/** Throws Trouble if what visits came to is not to be believed, though control questions were answered. */
export async function judgeOutcomes(
  { history, now, memory, say }: SelfCheck,
  slice: readonly Outcomes[],
): Promise<void> {
  const at = await now()
  const { watch, why, news } = judgeSlice(memory.watch, slice, await history(at - WEEK), at)
  memory.watch = watch
  if (news !== null) say(news)
  if (why !== null) throw new Trouble('band', why, Math.max(0, (watch.doubt?.again ?? at) - at) * 1000)
}
