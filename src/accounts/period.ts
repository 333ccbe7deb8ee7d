/** Subscription periods: the days an account paid for, and what they allow. */

import type { Day } from '../words/time.ts'

/** First and last day are inside; `last` null is open. */
export type Period = { plan: 'basic' | 'premium'; first: Day; last: Day | null }
