/** Counts the calls that clients got answered, and those that a dying process left unanswered. */

import type { Day } from '../../src/values/time.ts'

export class Books {
  readonly limit: number
  readonly answered = new Map<Day, number>()
  /** Calls that were in progress in a process when it died. */
  readonly unanswered = new Map<Day, number>()
  /** Calls that got 429. */
  refused = 0
  readonly violations: string[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  answer(day: Day): void {
    const count = (this.answered.get(day) ?? 0) + 1
    this.answered.set(day, count)
    if (count > this.limit) this.violations.push(`call ${count} of ${day} was answered, above the limit`)
  }

  lose(inFlight: ReadonlyMap<Day, number>): void {
    for (const [day, count] of inFlight) this.unanswered.set(day, (this.unanswered.get(day) ?? 0) + count)
  }
}
